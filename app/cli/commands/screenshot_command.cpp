// `shardlens screenshot`: a picture of the window over a recorded run.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/session/runs/listed_runs.h"
#include "app/sweep/sweep_file.h"
#include "app/window/window_main.h"
#include "ui/state/view_preferences.h"

namespace shardlens::app::cli {
namespace {

struct ScreenshotArguments {
  std::vector<std::string> runs;
  std::string size = "1600x1000";
  int lesson = 1, page = 1;  // counted from 1
  window::ScreenshotOptions picture;
};

trace::base::Result<void> parse_size(const std::string& text, int& width, int& height) {
  int used = 0;
  if (std::sscanf(text.c_str(), "%5dx%5d%n", &width, &height, &used) != 2 ||
      used != static_cast<int>(text.size()) || width < 320 || height < 240 || width > 16384 ||
      height > 16384) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "--size " + text +
            " is not a size. Write width x height in pixels, at least 320x240, as "
            "in 1600x1000.");
  }
  return {};
}

constexpr const char* kSweepTab = "Sweep";

// The window stands over a run, also where it shows a sweep.
trace::base::Result<std::filesystem::path> first_run_of(const std::string& sweep,
                                                        const std::filesystem::path& runs_dir) {
  TRY_ASSIGN(const auto record, sweep::read_sweep(runs_dir, sweep));
  for (const auto& [slot, run] : record.runs) {
    const auto folder = runs_dir / run.file_name;
    if (!run.file_name.empty() && std::filesystem::exists(folder)) return folder;
  }
  return trace::base::fail(trace::base::ErrorKind::kMissing,
                           "the sweep '" + sweep + "' has no run in this library yet");
}

trace::base::Result<int> screenshot(const ScreenshotArguments& options) {
  auto picture = options.picture;
  TRY(parse_size(options.size, picture.width, picture.height));
  if (picture.workspace == ui::state::kLearnWorkspace) {
    picture.lesson = options.lesson - 1;
    picture.page = options.page - 1;
    picture.lessons.assign(options.runs.begin(), options.runs.end());
    return window::take_screenshot(picture).map([] { return kDone; });
  }
  if (options.runs.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "Name the run to show: shardlens screenshot RUN -o FILE.png. "
                             "`shardlens runs` lists them.");
  }
  if (picture.workspace == "compare" && picture.tab == kSweepTab) {
    picture.sweep = options.runs.front();
    TRY_ASSIGN(picture.run, first_run_of(picture.sweep, picture.runs_dir));
    return window::take_screenshot(picture).map([] { return kDone; });
  }
  for (const std::string& name : options.runs) {
    TRY_ASSIGN(const auto run, session::find_listed_run(name, picture.runs_dir));
    if (&name == &options.runs.front()) {
      picture.run = run;
    } else {
      picture.others.push_back(run);
    }
  }
  return window::take_screenshot(picture).map([] { return kDone; });
}

// What is to be seen.
void add_content_options(CLI::App& command, ScreenshotArguments& options) {
  auto& picture = options.picture;
  constexpr auto& kOfInspect = ui::state::kInspectTabTitles;
  std::vector<std::string> tabs(kOfInspect.begin(), kOfInspect.end());
  for (const char* const of_compare : {"Runs", kSweepTab}) tabs.emplace_back(of_compare);
  command.add_option(
      "RUN", options.runs,
      "A run's name or number, its folder or a packed file; Compare takes several, its tab\n"
      "Sweep a sweep's name, Learn files of lessons or none for those that came along");
  command.add_option("--workspace", picture.workspace, "What the window shows")
      ->check(one_of({"tune", "inspect", "compare", "learn"}))
      ->capture_default_str();
  command.add_option("--tab", picture.tab, "Of the Inspect workspace, or of Compare: Runs, Sweep")
      ->transform(one_of(std::move(tabs), true))
      ->capture_default_str();
  command.add_option("--lesson", options.lesson, "Of Learn, counted from 1")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--page", options.page, "Of that lesson, counted from 1")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--step", picture.step,
                  "The step to select; by default a typical one. Inspect shows it between its\n"
                  "neighbours and picks its longest collective")
      ->check(CLI::NonNegativeNumber);
  add_repeated(command, "--set", picture.changes,
               "A setting of the next run that differs from this one's: shows what is\n"
               "predicted of it",
               "KEY=VALUE");
  command
      .add_option("--show", picture.show,
                  "The card that lies over the window, or all predictions at its foot")
      ->check(one_of({"plan", "predictions"}));
}

// How it looks.
void add_look_options(CLI::App& command, ScreenshotArguments& options) {
  auto& picture = options.picture;
  command.add_option("--size", options.size, "In pixels")->type_name("WxH")->capture_default_str();
  command.add_option("--theme", picture.theme)
      ->check(one_of({"dark", "light"}))
      ->capture_default_str();
  command.add_option("--scale", picture.scale, "Of the interface")
      ->check(between(0.75, 3))
      ->capture_default_str();
  command.add_flag("--present", picture.present, "Present mode: light, larger, knobs folded");
}

}  // namespace

void add_screenshot_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "screenshot", "Writes a PNG of the window over a recorded run", screenshot);
  command->add_option("-o,--output", options->picture.output, "The picture to write")
      ->required()
      ->type_name("FILE.png");
  add_content_options(*command, *options);
  add_look_options(*command, *options);
  add_runs_dir(*command, options->picture.runs_dir);
  command->footer(
      "Needs a display, if only a virtual one: xvfb-run -a shardlens screenshot …\n\n"
      "Example:\n"
      "  shardlens screenshot \"cap 1\" -o tune.png --size 1600x1000 --theme light");
}

}  // namespace shardlens::app::cli
