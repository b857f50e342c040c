// `shardlens replay`: plays a recorded run through the window.
#include <CLI/CLI.hpp>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/session/runs/listed_runs.h"
#include "app/window/window_main.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::cli {
namespace {

struct ReplayArguments {
  std::string run;
  double speed = 0;  // as last time
  std::filesystem::path runs_dir = "runs";
  Surroundings surroundings;
};

trace::base::Result<int> replay(const ReplayArguments& options) {
  TRY_ASSIGN(const auto run, session::find_listed_run(options.run, options.runs_dir));
  window::WindowOptions window;
  window.runs_dir = options.runs_dir;
  window.runs = {run};
  window.preferences = options.surroundings.preferences;
  window.home = options.surroundings.home;
  window.replay = true;
  window.replay_speed = options.speed;
  return window::run_window(window).map([] { return kDone; });
}

}  // namespace

void add_replay_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "replay", "Plays a recorded run in the window, as if it were live", replay);
  options->surroundings = line.surroundings;
  add_run(*command, options->run);
  command
      ->add_option("--speed", options->speed,
                   "Times the speed of the recording; as last time if not given")
      ->check(between(ui::state::kSlowestReplay, ui::state::kFastestReplay));
  add_runs_dir(*command, options->runs_dir);
  command->footer(
      "Example:\n"
      "  shardlens replay \"cap 1\" --speed 4");
}

}  // namespace shardlens::app::cli
