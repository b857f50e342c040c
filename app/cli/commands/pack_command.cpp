// `shardlens pack`: one file out of a run's folder.
#include <CLI/CLI.hpp>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/report/report_json.h"
#include "app/session/runs/listed_runs.h"
#include "trace/base/file_system.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::app::cli {
namespace {

struct PackArguments : CommonArguments {
  std::string run;
  std::filesystem::path output;
  bool overwrite = false;
  bool with_paths = false;
};

trace::base::Result<int> pack(const PackArguments& options) {
  TRY_ASSIGN(const auto run, session::find_listed_run(options.run, options.runs_dir));
  trace::store::PackOptions how;
  how.overwrite = options.overwrite;
  how.with_paths = options.with_paths;
  StopRequest stop("packing");
  how.progress = stop.progress();
  stop.remove_if_ended(trace::store::temporary_name(options.output));
  TRY(stop.ended(trace::store::pack_run(run, options.output, how)));
  const report::Json bytes = trace::base::file_size_or_zero(options.output);
  print_result(options.as_json()
                   ? report::dump_json({{"file", options.output.string()}, {"bytes", bytes}})
                   : options.output.string() + "\n");
  return kDone;
}

}  // namespace

void add_pack_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "pack", "Merges a run into one file, to send or archive", pack);
  command->add_option("RUN", options->run, "A run's name or number, or its folder")->required();
  command->add_option("-o,--output", options->output, "The file to write")
      ->required()
      ->type_name("FILE.shardlens");
  command->add_flag("--overwrite", options->overwrite, "Replaces a file that is there");
  command->add_flag("--with-paths", options->with_paths,
                    "Keeps host names, process ids, absolute paths and the recorded command line");
  add_common(*command, *options);
  command->footer(
      "Every command takes the file where it takes a run. It is plain SQLite. The run itself is "
      "not\n"
      "touched; Ctrl-C leaves nothing behind.\n\n"
      "Example:\n"
      "  shardlens pack \"cap 1\" -o cap-1.shardlens");
}

}  // namespace shardlens::app::cli
