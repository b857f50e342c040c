// `shardlens import`: a run out of traces that PyTorch's profiler exported.
#include <CLI/CLI.hpp>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/report/report_json.h"
#include "trace/base/text.h"
#include "trace/interop/kineto_import.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::cli {
namespace {

struct ImportArguments : CommonArguments {
  std::vector<std::filesystem::path> files;
  std::string name;
  bool overwrite = false;
};

report::Json as_json(const trace::interop::ImportedRun& run) {
  return {{"run", run.folder.string()},
          {"events", run.events},
          {"ranks", run.ranks},
          {"warnings", run.warnings}};
}

tl::unexpected<trace::base::Error> refuse_packed(const std::filesystem::path& output) {
  return trace::base::fail(trace::base::ErrorKind::kUsage,
                           "-o " + output.string() +
                               " names a packed file, and an import makes a folder: leave the "
                               "suffix out, then `shardlens pack` it");
}

trace::base::Result<int> import_traces(const ImportArguments& arguments) {
  StopRequest stop("reading");
  trace::interop::ImportOptions options;
  if (arguments.name.find('/') == std::string::npos) {
    options.name = arguments.name;
  } else {
    options.folder = without_last_slash(arguments.name);
    if (options.folder.extension() == trace::store::kPackedSuffix)
      return refuse_packed(options.folder);
  }
  options.overwrite = arguments.overwrite;
  options.progress = stop.progress();
  options.begun = [&](const auto& folder) { stop.remove_if_ended(folder); };
  options.whole = [&] { stop.keep_all(); };
  TRY_ASSIGN(const auto imported, stop.ended(trace::interop::import_kineto(
                                      arguments.files, arguments.runs_dir, options)));
  for (const std::string& warning : imported.warnings) print_message("warning: " + warning);
  if (arguments.as_json()) {
    print_result(report::dump_json(as_json(imported)));
  } else {
    print_result(imported.folder.string() + ": " + trace::base::grouped(imported.events) +
                 " events of " + std::to_string(imported.ranks.size()) +
                 (imported.ranks.size() == 1 ? " rank\n" : " ranks\n"));
  }
  return kDone;
}

}  // namespace

void add_import_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "import", "Makes a run of traces of PyTorch's profiler", import_traces);
  command
      ->add_option("FILE", arguments->files,
                   "Kineto JSON, plain or gzip, one file per rank, or a folder of them")
      ->required();
  command->add_option("-o,--name", arguments->name,
                      "Of the run, in the library, or with a slash the folder to make; by default "
                      "what the files' names have in common, with a number where it is taken");
  command->add_flag("--overwrite", arguments->overwrite, "Replaces a run of that name");
  add_common(*command, *arguments);
  command->footer(
      "Steps are those of torch.profiler's schedule (ProfilerStep#…); without it each ends with "
      "the\n"
      "optimizer's, or else the whole trace is one. Phases are record_function ranges with\n"
      "\"forward\" or \"backward\" in their name, \"## optimizer ...\" and PyTorch's own\n"
      "\"Optimizer.step#...\". Every command takes the run that it makes.\n\n"
      "Example:\n"
      "  shardlens import rank0.json.gz rank1.json.gz -o \"resnet, two ranks\"");
}

}  // namespace shardlens::app::cli
