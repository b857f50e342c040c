// `shardlens pack`: one file out of a run's folder.
#include <CLI/CLI.hpp>

#include "app/cli/commands.h"
#include "app/cli/commands/add_command.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/percent_line.h"
#include "app/cli/terminal/stop_request.h"
#include "app/report/report_json.h"
#include "app/session/runs/listed_runs.h"
#include "trace/base/file_system.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::app::cli {
namespace {

struct PackArguments {
  std::string run;
  std::filesystem::path output;
  bool overwrite = false;
  bool with_paths = false;
  std::string format;
  std::filesystem::path runs_dir = "runs";
};

trace::base::Result<int> pack(const PackArguments& options) {
  TRY_ASSIGN(const auto run, session::find_listed_run(options.run, options.runs_dir));
  trace::store::PackOptions how;
  how.overwrite = options.overwrite;
  how.with_paths = options.with_paths;
  StopRequest stop;
  PercentLine line("packing");
  how.progress = stop.progress(line);
  stop.remove_if_ended(trace::store::temporary_name(options.output));
  const auto packed = trace::store::pack_run(run, options.output, how);
  line.end();
  if (!packed) return tl::make_unexpected(packed.error());
  const report::Json bytes = trace::base::file_size_or_zero(options.output);
  print_result(options.format == "json"
                   ? report::dump_json({{"file", options.output.string()}, {"bytes", bytes}})
                   : options.output.string() + "\n");
  return kDone;
}

}  // namespace

void add_pack_command(CLI::App& app, Action& chosen) {
  const auto [command, options] =
      add_command(app, chosen, "pack", "Merges a run into one file, to send or archive", pack);
  command->add_option("RUN", options->run, "A run's name or number, or its folder")->required();
  command->add_option("-o,--output", options->output, "The file to write")
      ->required()
      ->type_name("FILE.shardlens");
  command->add_flag("--overwrite", options->overwrite, "Replaces a file that is there");
  command->add_flag("--with-paths", options->with_paths,
                    "Keeps host names, process ids, absolute paths and the recorded command line");
  add_format(*command, options->format, {"text", "json"});
  add_runs_dir(*command, options->runs_dir);
  command->footer(
      "Every command takes the file where it takes a run. It is plain SQLite. The run itself is "
      "not\n"
      "touched; Ctrl-C leaves nothing behind.\n\n"
      "Example:\n"
      "  shardlens pack \"cap 1\" -o cap-1.shardlens");
}

}  // namespace shardlens::app::cli
