// The settings of the next run, as they are changed, taken over from runs and files, and taken home
// to other frameworks. Interface thread only; a dropped file, of at most 1 MiB, is read at once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/session/baseline.h"
#include "app/session/lessons/kept_screen.h"
#include "app/session/watch/shown_run.h"
#include "app/session/worker/notice.h"
#include "ui/state/commands.h"

namespace shardlens::app::session {

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
  void carry_out(const ui::state::UnpinBaseline& command);
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
