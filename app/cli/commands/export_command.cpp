// `shardlens export`: a run as plain tables for other programs.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/commands.h"
#include "app/cli/terminal/exit_code.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/percent_line.h"
#include "app/cli/terminal/stop_request.h"
#include "app/launch/program_files.h"
#include "app/report/report_json.h"
#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/upkeep/export_rows.h"

namespace shardlens::app::cli {
namespace {

struct ExportArguments {
  std::string run;
  std::string format = "rows";
  std::filesystem::path output;
  bool overwrite = false;
  bool with_paths = false;
  bool json = false;
  std::filesystem::path runs_dir = "runs";
};

std::string exported_text(const std::filesystem::path& file,
                          const trace::store::ExportedRows& rows) {
  std::string text = file.string() + ":";
  const char* separator = " ";
  for (const auto& [table, count] : rows.tables) {
    if (count == 0) continue;
    text += separator + table + " " + trace::base::grouped(count);
    separator = ", ";
  }
  return text + "\n";
}

report::Json exported_json(const std::filesystem::path& file,
                           const trace::store::ExportedRows& rows) {
  report::Json tables = report::Json::object();
  for (const auto& [table, count] : rows.tables) tables[table] = count;
  return {{"file", file.string()},
          {"bytes", trace::base::file_size_or_zero(file)},
          {"tables", std::move(tables)}};
}

int export_run(const ExportArguments& arguments) {
  const auto run =
      trace::store::find_run(arguments.run, arguments.runs_dir, launch::bundled_runs());
  if (!run) return report_error(run.error());
  StopRequest stop;
  PercentLine line("exporting");
  trace::store::ExportOptions options;
  options.overwrite = arguments.overwrite;
  options.with_paths = arguments.with_paths;
  options.progress = stop.progress(line);
  stop.remove_if_ended(trace::store::detail::temporary_name(arguments.output));
  const auto rows = trace::store::export_rows(*run, arguments.output, options);
  line.end();
  if (!rows) return report_error(rows.error());
  print_result(arguments.json ? report::dump_json(exported_json(arguments.output, *rows)) + "\n"
                              : exported_text(arguments.output, *rows));
  return kDone;
}

}  // namespace

void add_export_command(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ExportArguments>();
  auto* command = app.add_subcommand("export", "Writes a run for other programs");
  command->add_option("RUN", arguments->run, "A run's name, its folder or a packed file")
      ->required();
  command->add_option("--format", arguments->format, "rows: an SQLite file of plain tables")
      ->check(CLI::IsMember(std::vector<std::string>{"rows"}))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "The file to write")
      ->required()
      ->type_name("FILE");
  command->add_flag("--overwrite", arguments->overwrite, "Replaces a file that is there");
  command->add_flag("--with-paths", arguments->with_paths,
                    "Keeps host names, process ids, absolute paths and the recorded command line");
  command->add_flag("--json", arguments->json, "Tells the tables and their rows as JSON");
  add_runs_dir(*command, arguments->runs_dir);
  command->footer(
      "Every table of `shardlens query` with its columns, names as texts, one row per event. An\n"
      "event takes about 100 bytes there, 4 to 9 in the run. Ctrl-C leaves nothing behind.\n\n"
      "Examples:\n"
      "  shardlens export baseline --format rows -o baseline.sqlite\n"
      "  sqlite3 baseline.sqlite \"select name, count(*) from kernel group by name\"\n"
      "  python3 -c \"import pandas, sqlite3; print(pandas.read_sql('select * from step', \\\n"
      "    sqlite3.connect('baseline.sqlite')))\"\n"
      "  duckdb -c \"attach 'baseline.sqlite' as run (type sqlite); from run.kernel limit 5\"");
  command->callback(
      [&chosen, arguments] { chosen = [arguments] { return export_run(*arguments); }; });
}

}  // namespace shardlens::app::cli
