// `shardlens import`: a run out of traces that PyTorch's profiler exported.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/percent_line.h"
#include "app/cli/stop_signals.h"
#include "app/report/report_json.h"
#include "trace/interop/kineto_import.h"
#include "trace/model/text.h"

namespace shardlens::app {
namespace {

struct ImportArguments {
  std::vector<std::filesystem::path> files;
  std::string name;
  bool overwrite = false;
  std::string format;
  std::filesystem::path runs_dir = "runs";
};

Json as_json(const trace::ImportedRun& run) {
  return {{"run", run.folder.string()},
          {"events", run.events},
          {"ranks", run.ranks},
          {"warnings", run.warnings}};
}

int import_traces(const ImportArguments& arguments) {
  StopSignals signals;
  PercentLine line("reading");
  trace::ImportOptions options;
  options.name = arguments.name;
  options.overwrite = arguments.overwrite;
  options.progress = [&](double part) {
    line.show(part);
    return !signals.wait(std::chrono::milliseconds(0));
  };
  const auto imported = trace::import_kineto(arguments.files, arguments.runs_dir, options);
  line.end();
  if (!imported) return report_error(imported.error());
  for (const std::string& warning : imported->warnings) print_message("warning: " + warning);
  if (arguments.format == "json") {
    print_result(dump_json(as_json(*imported)) + "\n");
  } else {
    print_result(imported->folder.string() + ": " + trace::grouped(imported->events) +
                 " events of " + std::to_string(imported->ranks.size()) +
                 (imported->ranks.size() == 1 ? " rank\n" : " ranks\n"));
  }
  return kDone;
}

}  // namespace

void add_import_command(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ImportArguments>();
  auto* command = app.add_subcommand("import", "Makes a run of traces of PyTorch's profiler");
  command->add_option("FILE", arguments->files, "Kineto JSON, plain or gzip, one file per rank")
      ->required();
  command->add_option("-o,--name", arguments->name,
                      "Of the run; by default that of the first file");
  command->add_flag("--overwrite", arguments->overwrite, "Replaces a run of that name");
  add_format(*command, arguments->format, {"text", "json"});
  add_runs_dir(*command, arguments->runs_dir);
  command->footer(
      "Steps are those of torch.profiler's schedule (ProfilerStep#…); without it the whole trace\n"
      "is one step. Phases are record_function ranges with forward, backward or optimizer in\n"
      "their name. Every command takes the run that it makes.\n\n"
      "Example:\n"
      "  shardlens import rank0.json.gz rank1.json.gz -o \"resnet, two ranks\"");
  command->callback(
      [&chosen, arguments] { chosen = [arguments] { return import_traces(*arguments); }; });
}

}  // namespace shardlens::app
