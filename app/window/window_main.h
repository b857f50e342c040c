// The window and off-screen pictures, as the command line starts them. Main thread only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "ui/state/view_address.h"

namespace shardlens::app::window {

struct WindowOptions {
  std::filesystem::path runs_dir = "runs";
  std::vector<std::filesystem::path> runs;    // to open: folders or packed files; empty: the newest
  std::vector<std::filesystem::path> traces;  // of other programs, to import and show
  std::optional<ui::state::ViewAddress> view;   // what to show of runs[0]
  std::vector<std::filesystem::path> compared;  // with runs[0] as their base, where `view` compares
  bool replay = false;                          // plays runs[0]
  double replay_speed = 0;                      // 0: as in the last replay
  std::vector<std::filesystem::path> lessons;   // files or folders; empty: came with the program
  bool learns = false;                          // opens Learn, at this page; both counted from 0
  int lesson = -1, page = 0;                    // -1: with all lessons, to choose from
  // Written by the set-up script while it fetches and builds the trainer; empty: nobody does.
  std::filesystem::path trainer_status;
  // What the window remembers ($XDG_CONFIG_HOME/shardlens/preferences.yaml); empty: nothing.
  std::filesystem::path preferences;
  std::filesystem::path home;  // what "~" stands for in a path that is typed; empty: not known
};

struct ScreenshotOptions {
  std::filesystem::path run;                    // not of Learn, whose page names its own
  std::vector<std::filesystem::path> others{};  // of the Compare workspace: with `run` as the base
  std::filesystem::path output;                 // PNG
  std::filesystem::path runs_dir = "runs";
  std::string workspace = "tune";
  std::string tab = "Kernels";                   // of the Inspect or Compare workspace
  std::string sweep{};                           // shown by the tab "Sweep", over `run`; "": none
  std::vector<std::filesystem::path> lessons{};  // of the Learn workspace, as in WindowOptions
  int lesson = 0, page = 0;
  int width = 1600;
  int height = 1000;
  std::string theme = "dark";  // "dark" or "light"
  double scale = 1;
  long step = -1;  // -1: a typical one, with a step time near the median
  bool present = false;
  std::string show;  // "plan" lies over the window, "predictions" at its foot; "": nothing
  std::vector<std::string> changes{};  // of the settings for the next run: "key=value"
};

// Until the window is closed. An error: there is no window to be had, or what is to be remembered
// could not be saved; kUsage, of a picture: there is no such lesson or page.
trace::base::Result<void> run_window(const WindowOptions& options);
trace::base::Result<void> take_screenshot(const ScreenshotOptions& options);

}  // namespace shardlens::app::window
