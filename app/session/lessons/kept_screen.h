// What was on screen before a lesson's page changed it, and how it comes back. What the user looks
// at beside lessons goes with them; what the user makes there stays: a run that was started, with
// the settings that it was started with, an import, a file that was opened. Interface thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/session/compare/comparison_session.h"
#include "app/session/jobs/knob_editor.h"
#include "app/session/runs/ledger.h"
#include "app/session/watch/run_watcher.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

class KeptScreen {
 public:
  KeptScreen(RunWatcher& watcher, KnobEditor& knobs, ComparisonSession& comparison)
      : watcher_(watcher), knobs_(knobs), comparison_(comparison) {}

  // The run, its step or replay, the runs that are compared, the next run's settings. Nothing where
  // they are kept already.
  void keep();
  bool is_kept() const { return kept_.has_value(); }
  // Nothing where nothing is kept. True: the run of await_start() is still to take the screen.
  bool bring_back(LedgerRows rows, const std::filesystem::path& runs_dir);

  // These do nothing unless it is kept.
  void keep_settings();                                 // those of now: a run is started with them
  void show_instead(const std::filesystem::path& run);  // is new on screen
  // The run that starts next is what comes back: the user has asked for it.
  void await_start();
  // A job has started behind another one, which whoever looked at it follows.
  void follow_job(const std::filesystem::path& before, const std::filesystem::path& job);
  void leave(const std::vector<std::string>& folders);  // are to be deleted

 private:
  struct Shown {
    std::filesystem::path run;         // "": none was
    std::optional<std::int64_t> step;  // none: as where it is opened; -1: the latest
    ui::state::ReplayState replay;
  };
  struct Kept {
    std::optional<Shown> shown;  // none: it is gone
    std::vector<std::string> compared;
    std::int64_t compared_step = -1;
    KnobEditor::Kept settings;
    bool awaits_start = false;
  };
  struct BroughtBack {
    Shown shown;
    std::uint64_t at_version = 0;  // of what was published then
  };

  Shown what_is_shown() const;
  void show(const Shown& shown);

  RunWatcher& watcher_;
  KnobEditor& knobs_;
  ComparisonSession& comparison_;
  std::optional<Kept> kept_;
  std::optional<BroughtBack> brought_back_;
};

}  // namespace shardlens::app::session
