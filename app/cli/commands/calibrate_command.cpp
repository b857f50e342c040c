// `shardlens calibrate`: what collectives cost between the ranks of a job, measured or read in.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/calibration/calibration_run.h"
#include "app/cli/commands.h"
#include "app/cli/job/job_arguments.h"
#include "app/cli/job/run_job.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/launch/stop_signals.h"
#include "app/report/costs_report.h"
#include "app/report/report_json.h"
#include "trace/base/file_system.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/predict/costs/nccl_tests.h"

namespace shardlens::app::cli {
namespace {

using trace::base::ErrorKind;
using trace::base::Result;

struct CalibrateArguments : CommonArguments {
  JobArguments job;
  double seconds = 10;
  std::filesystem::path table;  // of nccl-tests; empty: measure
  std::string function;
  std::filesystem::path output;
  bool overwrite = false;
};

Result<trace::job::Settings> settings_to_measure(const CalibrateArguments& arguments) {
  TRY_ASSIGN(trace::job::Settings settings, settings_of(arguments.job));
  if (settings.ranks >= 2) return settings;
  return trace::base::fail(ErrorKind::kUsage,
                           "One rank moves nothing: collectives cost something between two or "
                           "more. Give --ranks 2.");
}

// Runs the job and reads what it recorded; its folder is gone afterwards. Error kFailed: stopped,
// or a rank failed.
Result<report::CostsReport> measure(const CalibrateArguments& arguments,
                                    launch::StopSignals& signals) {
  TRY_ASSIGN(const trace::job::Settings settings, settings_to_measure(arguments));
  TRY_ASSIGN(const auto folder, trace::base::TemporaryFolder::create());
  TRY_ASSIGN(const auto job,
             launch::JobSession::start(calibration::calibration_request(settings, folder.path()),
                                       calibration::calibration_options(arguments.seconds)));
  const launch::JobStatus begun = job->poll();
  print_message("Measuring collectives between " + std::to_string(begun.run.world_size) +
                " ranks on " + begun.run.device);
  PercentLine line("measuring");
  std::optional<std::chrono::steady_clock::time_point> first_round;
  const auto show = [&](const RunProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (progress.steps_done == 0) return;
    if (!first_round) first_round = now;
    line.show(std::chrono::duration<double>(now - *first_round).count() / arguments.seconds);
  };
  const launch::JobStatus ended = watch_job(*job, signals, show).status;
  line.end();
  if (ended.run.status == trace::model::RunStatus::kStopped) {
    return trace::base::fail(ErrorKind::kFailed, "stopped: nothing was measured");
  }
  if (ended.run.status != trace::model::RunStatus::kDone) {
    for (const auto& text : ended.log_tail) print_message("  " + text);
    return trace::base::fail(ErrorKind::kFailed, ended.run.reason);
  }
  TRY_ASSIGN(auto measured, calibration::read_calibration(job->folder(), arguments.seconds));
  return report::CostsReport{std::move(measured.file), measured.largest_bytes, {}};
}

// What this command wrote elsewhere; none: the file is something else, or cannot be read.
Result<std::optional<trace::predict::CostsFile>> measured_elsewhere(
    const CalibrateArguments& arguments) {
  auto file = trace::predict::read_costs(arguments.table);
  if (!file) {
    const ErrorKind kind = file.error().kind;
    const bool is_ours = kind == ErrorKind::kDamaged || kind == ErrorKind::kOtherVersion;
    if (is_ours) return tl::make_unexpected(file.error());
    return std::nullopt;
  }
  if (arguments.function.empty() && !arguments.job.ranks) return std::move(*file);
  return trace::base::fail(ErrorKind::kUsage,
                           trace::base::quoted(arguments.table) +
                               " tells its functions and ranks itself: leave out --function and "
                               "--ranks.");
}

Result<void> check_device_name(const CalibrateArguments& arguments,
                               const std::string& device_name) {
  if (!device_name.empty() || !arguments.output.empty()) return {};
  return trace::base::fail(
      ErrorKind::kUsage,
      trace::base::quoted(arguments.table) +
          " does not name the one kind of GPU that it was measured on, so that no prediction "
          "could know whether it holds: give -o FILE, and that file to `shardlens predict "
          "--costs`.");
}

// nccl-tests run on GPUs.
Result<report::CostsReport> read_in(const CalibrateArguments& arguments) {
  TRY_ASSIGN(auto elsewhere, measured_elsewhere(arguments));
  if (elsewhere) {
    TRY(check_device_name(arguments, elsewhere->setup.device_name));
    return report::CostsReport{.file = std::move(*elsewhere), .files = {}};
  }
  std::optional<trace::model::CollectiveFunction> function;
  if (!arguments.function.empty()) {
    function = trace::predict::nccl_tests_function(arguments.function);
    if (!function) {
      return trace::base::fail(ErrorKind::kUsage,
                               "--function " + arguments.function +
                                   " is nothing that nccl-tests measure: give all_reduce, "
                                   "all_gather, reduce_scatter or broadcast.");
    }
  }
  int ranks = 0;
  if (arguments.job.ranks) {
    trace::job::Settings settings;
    TRY(trace::job::set_value(settings, "ranks", *arguments.job.ranks));
    ranks = static_cast<int>(settings.ranks);
  }
  TRY_ASSIGN(const auto table, trace::predict::read_nccl_tests(arguments.table));
  const std::string name = trace::base::quoted(arguments.table);
  report::CostsReport report;
  TRY_ASSIGN(report.file.rows, trace::predict::cost_rows(table, name, function, ranks));
  report.file.source = trace::predict::CostsSource::kNcclTests;
  report.file.setup.device = "cuda";
  report.file.setup.device_name = table.device_name;
  report.file.setup.backend = "nccl";
  report.file.setup.ranks = report.file.rows.front().kind.ranks;
  report.file.setup.hosts = std::max(1, table.hosts);
  report.file.host = table.host;
  report.file.versions = table.versions;
  report.file.data_type = table.data_type;
  TRY(check_device_name(arguments, table.device_name));
  return report;
}

// In the library, where a prediction can find it, and where the user wants it.
Result<void> keep(const CalibrateArguments& arguments, report::CostsReport& report) {
  if (!report.file.setup.device_name.empty()) {
    TRY_ASSIGN(auto kept, trace::predict::keep_costs(arguments.runs_dir, report.file));
    report.files.push_back(std::move(kept));
  }
  if (arguments.output.empty()) return {};
  TRY(trace::predict::write_costs(arguments.output, report.file));
  report.files.push_back(arguments.output);
  return {};
}

Result<int> calibrate(const CalibrateArguments& arguments) {
  launch::StopSignals signals;
  if (!arguments.output.empty()) {
    TRY(trace::base::check_output(arguments.output, arguments.overwrite, "costs.json"));
  }
  TRY_ASSIGN(auto costs,
             arguments.table.empty() ? measure(arguments, signals) : read_in(arguments));
  TRY(keep(arguments, costs));
  print_result(arguments.as_json() ? report::dump_json(report::costs_json(costs))
                                   : report::costs_text(costs));
  return kDone;
}

void add_options(CLI::App& command, CalibrateArguments& options) {
  add_job_arguments(command, options.job);
  command.remove_option(command.get_option("--steps"));  // nothing is trained
  auto* seconds = command.add_option("--seconds", options.seconds, "For how long to measure")
                      ->type_name("SECONDS")
                      ->check(between(0.1, 86400))
                      ->capture_default_str();
  auto* table = command
                    .add_option("--from", options.table,
                                "Reads in what nccl-tests printed, such columns as CSV, or what "
                                "this command wrote elsewhere (-o), instead")
                    ->type_name("FILE");
  for (const char* measuring : {"SETTINGS", "--set", "--device", "--link", "--oversubscribe"}) {
    table->excludes(command.get_option(measuring));
  }
  table->excludes(seconds);
  command
      .add_option("--function", options.function,
                  "What the table measured, where its header does not say: all_reduce, …")
      ->type_name("NAME")
      ->needs(table);
  command.add_option("-o,--output", options.output, "Writes the costs to a file, too")
      ->type_name("FILE");
  command.add_flag("--overwrite", options.overwrite, "Replaces that file");
  add_json(command, options, "Prints one JSON document, and nothing else");
}

}  // namespace

void add_calibrate_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "calibrate",
                  "Measures what collectives of a job's ranks cost, for predictions", calibrate);
  add_options(*command, *options);
  command->footer(
      "Starts the job's ranks with its backend, groups and link, and lets them run all-reduce,\n"
      "all-gather, reduce-scatter and broadcast from 1 KiB up to the model's size (256 MiB at "
      "most),\n"
      "in random order. The result is kept in the library: predictions of runs on the same "
      "device,\n"
      "ranks and link take sizes and functions from it that the run itself has not measured. "
      "Those of\n"
      "an imported run, which tells no link, take what is kept of its GPU, whatever the link "
      "there.\n\n"
      "Examples:\n"
      "  shardlens calibrate --ranks 2 --device cpu\n"
      "  shardlens calibrate job.yaml --link latency_us=50,gbit_per_s=1 --seconds 30\n"
      "  shardlens calibrate --from all_reduce_perf.txt\n"
      "  shardlens calibrate --from costs.json              # -o costs.json on the cluster\n"
      "  shardlens calibrate --from table.csv --function all_reduce --ranks 8 -o a100.json");
}

}  // namespace shardlens::app::cli
