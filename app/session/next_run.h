// The settings of the next run, as they are changed, taken over from runs and files, and taken home
// to other frameworks. Interface thread only; a dropped file, of at most 1 MiB, is read at once.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/session/jobs/knob_editor.h"
#include "app/session/lessons/kept_screen.h"
#include "app/session/runs/ledger.h"
#include "app/session/runs/run_library.h"
#include "app/session/watch/shown_run.h"
#include "app/session/worker/notice.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// The run against which the next job's settings and the ledger's figures are compared: the one that
// the user pinned, else the newest that has ended.
class Baseline {
 public:
  Baseline(KnobEditor& knobs, RunLibrary& library) : knobs_(knobs), library_(library) {}

  bool is_chosen() const { return is_library_read_ && !folder_.empty(); }
  // Once the library has been read. The run that was pinned before, else the first one that ends:
  // later ones wait until the user turns to the next change.
  void choose_first(LedgerRows rows, const std::string& pinned);
  // "What changed" is said against the last run: it becomes the baseline when the next change
  // begins, so that its own difference can be read until then.
  void begin_change(LedgerRows rows);
  // Of the next run's settings. Before the library has been read it is made once more then, in
  // those of the last run.
  template <typename Change>
  auto change(const Change& change) {
    if (!is_library_read_) early_changes_.emplace_back(change);
    return change(knobs_);
  }
  // The same of one knob. Beside what another program's run tells it is kept with that run, and is
  // no change of one's own settings.
  template <typename Change>
  auto change_knob(const std::string& knob, const Change& change) {
    return knobs_.is_told(knob) ? change(knobs_) : this->change(change);
  }
  // It may have been renamed, be gone, or be there again.
  void follow_library(LedgerRows rows);
  // What is being run is what the user wants to see.
  void keep_settings();

  void pin(const ui::state::LedgerRow& row);
  void unpin(LedgerRows rows);
  // These runs are to be deleted, which may be refused: another one follows once they are gone.
  void leave(const std::vector<std::string>& folders);
  // Deleted runs are asked back: the one that was pinned is so again, once it is there.
  void expect_back() { is_expected_back_ = true; }

 private:
  void take(const ui::state::LedgerRow& row);
  void move_on(LedgerRows rows);

  KnobEditor& knobs_;
  RunLibrary& library_;
  std::string folder_;
  bool is_pinned_ = false;        // by the user
  bool edited_ = false;           // so the settings are no longer those of the last run
  bool is_library_read_ = false;  // before, its rows are not all
  std::vector<std::function<void(KnobEditor&)>> early_changes_;
  std::set<std::string> leaving_;  // are to be deleted, by folder
  std::string left_;               // was deleted while it was pinned; "": none was
  bool is_expected_back_ = false;
};

class NextRun {
 public:
  // What a lesson sets while `before_lessons` is kept is no change of one's own.
  NextRun(KnobEditor& knobs, RunLibrary& library, const ShownRun& shown, KeptScreen& before_lessons,
          Notice& notice)
      : knobs_(knobs),
        shown_(shown),
        before_lessons_(before_lessons),
        notice_(notice),
        baseline_(knobs, library) {}

  void carry_out(const ui::state::SetKnob& command);
  void carry_out(const ui::state::ResetKnob& command);
  void carry_out(const ui::state::ResetKnobs& command);
  void carry_out(const ui::state::SetBaseline& command);
  void carry_out(const ui::state::CopySettings& command);
  // False: the notice says why not. None: this is no file of settings.
  std::optional<bool> take_over(const std::filesystem::path& file);
  // The text of that file. `on_gpu`: where the next run would run. None: the notice says why.
  std::optional<std::string> take_home(const ui::state::CopySettingsAs& command, bool on_gpu);
  // They are what a job starts with.
  void keep(const trace::job::Settings& settings);

  void follow_library(const LibraryState& library);
  Baseline& baseline() { return baseline_; }

 private:
  LedgerRows rows() const { return ledger_->rows; }
  const trace::job::Settings* settings_of(const std::string& folder) const;
  void begin_change();

  KnobEditor& knobs_;
  const ShownRun& shown_;
  KeptScreen& before_lessons_;
  Notice& notice_;
  std::shared_ptr<const ui::state::Ledger> ledger_ = std::make_shared<const ui::state::Ledger>();
  Baseline baseline_;
};

}  // namespace shardlens::app::session
