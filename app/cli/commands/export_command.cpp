// `shardlens export`: a run as plain tables for other programs, its settings for other frameworks.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <variant>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/report/report_json.h"
#include "app/report/run_report.h"
#include "app/session/runs/listed_runs.h"
#include "trace/base/file_system.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/frameworks/write/framework_export.h"
#include "trace/interop/chrome/chrome_export.h"
#include "trace/model/run_info.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/query.h"
#include "trace/store/upkeep/export_rows.h"

namespace shardlens::app::cli {
namespace {

using trace::base::Result;

struct ExportArguments {
  std::string run;
  std::vector<std::string> assignments;
  std::string format = "rows";
  std::filesystem::path output;
  bool overwrite = false;
  bool with_paths = false;
  bool json = false;
  std::string steps;
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

Result<int> export_rows(const ExportArguments& arguments, const std::filesystem::path& run) {
  StopRequest stop("exporting");
  trace::store::ExportOptions options;
  options.overwrite = arguments.overwrite;
  options.with_paths = arguments.with_paths;
  options.progress = stop.progress();
  stop.remove_if_ended(trace::store::temporary_name(arguments.output));
  TRY_ASSIGN(const auto rows,
             stop.ended(trace::store::export_rows(run, arguments.output, options)));
  print_result(arguments.json ? report::dump_json(exported_json(arguments.output, rows))
                              : exported_text(arguments.output, rows));
  return kDone;
}

Result<int> export_chrome(const ExportArguments& arguments, const std::filesystem::path& run) {
  trace::interop::ChromeExportOptions options;
  if (!arguments.steps.empty()) {
    TRY_ASSIGN(const report::StepRange range, report::parse_step_range(arguments.steps));
    options.steps = {range.first, range.last};
  }
  StopRequest stop("exporting");
  options.overwrite = arguments.overwrite;
  options.with_paths = arguments.with_paths;
  options.progress = stop.progress();
  options.begun = [&](const auto& file) { stop.remove_if_ended(file); };
  TRY_ASSIGN(const auto written,
             stop.ended(trace::interop::export_chrome_trace(run, arguments.output, options)));
  report::Json files = report::Json::array();
  std::string text;
  for (const auto& file : written.files) {
    files.push_back(file.string());
    text += trace::base::printable_line(file.string()) + "\n";
  }
  text += trace::base::grouped(written.events) + " events\n";
  const report::Json json{{"files", std::move(files)}, {"events", written.events}};
  print_result(arguments.json ? report::dump_json(json) : text);
  return kDone;
}

// On how many machines it ran, as far as its ranks tell.
std::int64_t node_count(const std::filesystem::path& run) {
  const auto answer = trace::store::query_run(run, "select count(distinct host) from rank");
  if (!answer || answer->rows.empty()) return 1;
  const auto* count = std::get_if<std::int64_t>(&answer->rows.front().front());
  return count != nullptr ? std::max<std::int64_t>(1, *count) : 1;
}

Result<trace::frameworks::TunedJob> tuned_job(const std::filesystem::path& run) {
  TRY_ASSIGN(const auto info, trace::store::read_run_info(run));
  if (!trace::model::has_settings(info)) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "The run \"" + info.name + "\" was recorded from another program (" + info.imported_from +
            "), whose settings are not known. Name a run that Shardlens trained; what is predicted "
            "of this one, `shardlens predict` also names as the program has it.");
  }
  trace::frameworks::TunedJob job{info.settings, info.name, node_count(run), info.device == "cuda"};
  if (info.world_size > 0) job.settings.ranks = info.world_size;
  return job;
}

std::string setting_text(const trace::job::Settings& settings, const trace::job::Knob& knob) {
  return std::string(knob.name) + "=" + trace::job::value_text(settings, knob);
}

// Sets them, and returns what the file says nothing of: of the program around it, of the recording,
// or without effect beside the others.
Result<std::vector<const trace::job::Knob*>> set_anew(const std::vector<std::string>& assignments,
                                                      const trace::frameworks::ExportFormat& format,
                                                      trace::frameworks::TunedJob& job) {
  std::vector<const trace::job::Knob*> taken, not_taken;
  if (assignments.empty()) return not_taken;  // as the run had them, whatever is said of that today
  const trace::job::Settings recorded = job.settings;
  for (const auto& assignment : assignments) {
    TRY(trace::job::set_assignment(job.settings, assignment));
  }
  TRY(trace::job::validate(job.settings));
  if (job.settings.ranks % job.nodes != 0) job.nodes = 1;
  const auto all_of_file = [&](const trace::frameworks::TunedJob& of) {
    const auto file = format.write(of);
    return file.text + trace::frameworks::remarks_text(file);
  };
  const std::string with_all = all_of_file(job);
  for (const auto* knob : trace::job::differing_knobs(recorded, job.settings)) {
    trace::frameworks::TunedJob without = job;
    trace::job::copy_value(*knob, recorded, without.settings);
    (all_of_file(without) == with_all ? not_taken : taken).push_back(knob);
  }
  job.changed = trace::base::joined(
      taken, ", ", [&](const auto* knob) { return setting_text(job.settings, *knob); });
  return not_taken;
}

Result<void> write_text(const ExportArguments& arguments, const std::string& text,
                        std::string_view usual_name) {
  const std::filesystem::path& file = arguments.output;
  TRY(trace::base::check_output(file, arguments.overwrite, std::string(usual_name)));
  const std::filesystem::path unfinished = trace::store::temporary_name(file);
  std::error_code error = trace::base::replace_text(unfinished, text);
  if (error) return trace::base::cannot_write(file, error.value());
  auto published = trace::base::publish_output(unfinished, file, arguments.overwrite);
  if (!published) std::filesystem::remove(unfinished, error);
  return published;
}

report::Json settings_export_json(const ExportArguments& arguments,
                                  const trace::frameworks::FrameworkFile& file,
                                  const std::vector<const trace::job::Knob*>& not_taken) {
  report::Json left_out = report::Json::array();
  for (const auto& each : file.left_out) {
    left_out.push_back({{"setting", each.knob}, {"value", each.value}, {"reason", each.reason}});
  }
  return {{"text", file.text},
          {"start", report::text_or_null(file.start)},
          {"left_out", std::move(left_out)},
          {"differs", file.remarks},
          {"not_taken", report::array_of(not_taken, [](const auto* knob) { return knob->name; })},
          {"file", report::text_or_null(arguments.output.string())}};
}

Result<int> export_settings(const ExportArguments& arguments, const std::filesystem::path& run,
                            const trace::frameworks::ExportFormat& format) {
  TRY_ASSIGN(auto job, tuned_job(run));
  TRY_ASSIGN(const auto not_taken, set_anew(arguments.assignments, format, job));
  const auto file = format.write(job);
  if (!arguments.output.empty()) {
    TRY(write_text(arguments, file.text, format.usual_file));
  }
  if (arguments.json) {
    print_result(report::dump_json(settings_export_json(arguments, file, not_taken)));
    return kDone;
  }
  print_result(arguments.output.empty() ? file.text : arguments.output.string() + "\n");
  if (!format.has_comments) print_lines(trace::frameworks::remarks_text(file));
  for (const auto* knob : not_taken) {
    print_message("not taken: " + setting_text(job.settings, *knob) +
                  " is no part of such a file, or has no effect beside the other settings");
  }
  return kDone;
}

Result<int> export_run(const ExportArguments& arguments) {
  TRY_ASSIGN(const auto run, session::find_listed_run(arguments.run, arguments.runs_dir));
  const bool is_trace = arguments.format == "chrome";
  if (!is_trace && !arguments.steps.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "--steps is for --format chrome: all else is of the whole run.");
  }
  if (const auto* format = trace::frameworks::find_export_format(arguments.format)) {
    return export_settings(arguments, run, *format);
  }
  if (!arguments.assignments.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "--set is for --format pytorch, deepspeed and accelerate: what was "
                             "recorded stays as it is.");
  }
  if (arguments.output.empty()) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        is_trace ? "--format chrome writes a trace; name it, as -o run.json.gz, or name a folder "
                   "for a file of each rank."
                 : "--format rows writes a file of SQLite; name it, as -o run.sqlite.");
  }
  return is_trace ? export_chrome(arguments, run) : export_rows(arguments, run);
}

}  // namespace

void add_export_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "export", "Writes a run or its settings for other programs", export_run);
  add_run(*command, arguments->run);
  command
      ->add_option("--format", arguments->format,
                   "rows: an SQLite file of plain tables; chrome: a trace for Perfetto and what "
                   "reads PyTorch's; the settings as PyTorch code, as DeepSpeed's ds_config.json, "
                   "or as Accelerate's YAML")
      ->check(one_of({"rows", "chrome", "pytorch", "deepspeed", "accelerate"}))
      ->capture_default_str();
  add_repeated(*command, "--set", arguments->assignments,
               "Of the settings one that is otherwise than in the run, as after a prediction; "
               "may be given several times. What the file says nothing of is named",
               "KEY=VALUE");
  command
      ->add_option("-o,--output", arguments->output,
                   "The file to write; settings go to standard output without one. Of a trace also "
                   "a folder, for a file of each rank as PyTorch's profiler writes them")
      ->type_name("FILE");
  command
      ->add_option("--steps", arguments->steps,
                   "Of a trace, what begins in these steps: first..last, both included")
      ->type_name("STEPS");
  command->add_flag("--overwrite", arguments->overwrite, "Replaces a file that is there");
  command->add_flag("--with-paths", arguments->with_paths,
                    "Keeps host names, process ids, absolute paths and the recorded command line");
  command->add_flag(
      "--json", arguments->json,
      "Tells the tables and their rows, or the settings and what is left out, as JSON");
  add_runs_dir(*command, arguments->runs_dir);
  command->footer(
      "Rows are the tables of `shardlens query`, names as texts, one row per event: without\n"
      "lane_name, which table lane has, and without string, chunk and batch, in which the run "
      "packs\n"
      "them. An event takes about 100 bytes there, 4 to 9 in the run. Ctrl-C leaves nothing "
      "behind.\n\n"
      "A trace opens in ui.perfetto.dev, a file for each rank also in Holistic Trace Analysis and\n"
      "with `shardlens import`. Allocations stay in the run.\n\n"
      "Code for PyTorch has the same buckets or units, precision, optimizer and schedule, with "
      "the\n"
      "torchrun line. What a framework has no setting for is listed with the reason: in the code,\n"
      "in the YAML's comments, for DeepSpeed on standard error. `shardlens run` and `settings` "
      "read\n"
      "files of DeepSpeed and Accelerate.\n\n"
      "Examples:\n"
      "  shardlens export baseline --format pytorch -o parallel.py\n"
      "  shardlens export baseline --format pytorch --set bucket_cap_mb=4\n"
      "  shardlens export baseline --format deepspeed -o ds_config.json\n"
      "  shardlens export baseline --format accelerate -o accelerate.yaml\n"
      "  shardlens export baseline --format chrome --steps 10..12 -o baseline.json.gz\n"
      "  shardlens export baseline --format rows -o baseline.sqlite\n"
      "  sqlite3 baseline.sqlite \"select name, count(*) from kernel group by name\"\n"
      "  python3 -c \"import pandas, sqlite3; print(pandas.read_sql('select * from step', \\\n"
      "    sqlite3.connect('baseline.sqlite')))\"\n"
      "  duckdb -c \"attach 'baseline.sqlite' as run (type sqlite); from run.kernel limit 5\"");
}

}  // namespace shardlens::app::cli
