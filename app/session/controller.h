// Everything behind the window: carries out what panels ask for and gathers what they show.
// Interface thread only; no call waits for a file, a process or another thread's work, but that
// dropped settings, at most 1 MiB, are read at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/baseline.h"
#include "app/session/compare/comparison_session.h"
#include "app/session/files/run_packing.h"
#include "app/session/files/settings_drop.h"
#include "app/session/files/trace_import.h"
#include "app/session/inspect/inspect_session.h"
#include "app/session/jobs/job_queue.h"
#include "app/session/jobs/knob_editor.h"
#include "app/session/jobs/strategy_planner.h"
#include "app/session/jobs/trainer_status.h"
#include "app/session/notice.h"
#include "app/session/runs/run_library.h"
#include "app/session/sweep/sweep_session.h"
#include "app/session/tuning/run_predictor.h"
#include "app/session/watch/run_watcher.h"
#include "app/session/worker/free_memory.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

struct ControllerOptions {
  std::filesystem::path runs_dir = "runs";
  std::filesystem::path bundled_dir;     // "": none
  std::filesystem::path run;             // to show first; "": the newest
  bool replay = false;                   // plays `run`
  double replay_speed = 1;               // until the user chooses another
  trace::job::Settings first_settings;   // of the first job, as long as no run says otherwise
  std::filesystem::path trainer_status;  // see TrainerStatus
  std::filesystem::path save_dir = ".";  // where tables and pictures are saved
  Machine machine;                       // for which estimates are made
  std::function<bool()> trainer_found = [] { return true; };
  StartJob start_job = start_job_session;
};

class Controller {
 public:
  // `wake`: called on any thread when there is something new to draw.
  Controller(ControllerOptions options, std::function<void()> wake);

  void execute(const ui::state::Command& command);
  // The same pointer until something changes.
  std::shared_ptr<const ui::state::Snapshot> snapshot();

  // Whether the Inspect workspace is on screen: the run shown is opened to be looked around in, and
  // stays so, since coming back should cost nothing.
  void look_around() { looks_around_ = true; }

  bool quit_requested() const { return quit_requested_; }
  double replay_speed() const { return replay_speed_; }
  // For the clipboard, which belongs to the window; once.
  std::optional<std::string> take_copied_text();
  // A part of the window that is to be saved, which the window does; once.
  std::optional<ui::state::SavePicture> take_wanted_picture();
  void note_saved(const trace::base::Result<std::filesystem::path>& file);
  const std::filesystem::path& save_dir() const { return options_.save_dir; }

 private:
  struct Versions {
    std::uint64_t watch = 0, job_watch = 0, queue = 0, library = 0;
  };

  template <typename Command>
  void perform(const Command& command);
  void perform_on_files(const ui::state::SaveText& command);
  void perform_on_files(const ui::state::SavePicture& command);
  void perform_on_files(const ui::state::OpenFiles& command);
  void take_over(const trace::base::Result<DroppedSettings>& dropped);
  void perform_on_files(const ui::state::PackRun& command);
  void perform_on_run(const ui::state::StartRun& command);
  void perform_on_run(const ui::state::OpenSweepCard& command);
  void perform_on_run(const ui::state::StartSweep& command);
  void perform_on_run(const ui::state::ShowRun& command);
  void perform_on_run(const ui::state::CompareRuns& command);
  void perform_on_run(const ui::state::StartReplay& command);
  void perform_on_run(const ui::state::SetBaseline& command);
  void perform_on_run(const ui::state::CopySettings& command);
  void perform_on_run(const ui::state::CopySettingsAs& command);
  void perform_on_run(const ui::state::UnpinBaseline& command);
  void perform_on_run(const ui::state::EditRuns& command);
  void perform_on_run(const ui::state::DeleteRuns& command);
  void perform_on_run(const ui::state::UndoDelete& command);
  void perform_on_run(const ui::state::ChangeBookmark& command);
  void touch() { changed_ = true; }

  LedgerRows rows() const { return library_state_.ledger->rows; }
  std::vector<std::string> taken_names() const;

  bool is_loading() const;
  void follow_queue();
  void follow_library();
  void follow_watch();
  void give_figures_to_library(const WatchState& before);
  void follow_import();
  void follow_inspect();
  std::vector<std::string> chosen_to_compare() const;
  ComparisonQuestion comparison_of(const std::vector<std::string>& folders) const;
  void follow_comparison();
  void open_first_run();
  std::shared_ptr<const ui::state::RunView> job_view();
  ui::state::JobState job_state();
  // Of the job that would start now.
  std::optional<trace::model::StepPrediction> predicted_step(const ui::state::KnobDraft& draft);

  const SharedArenas arenas_;
  const std::filesystem::path runs_dir_;
  const ControllerOptions options_;

  KnobEditor knobs_;
  StrategyPlanner planner_;
  bool first_run_opened_ = false;
  Notice notice_;
  bool quit_requested_ = false;
  double replay_speed_ = 1;  // of this replay and the next
  std::optional<std::string> copied_text_;
  std::optional<ui::state::SavePicture> wanted_picture_;
  bool looks_around_ = false;
  std::uint64_t answers_ = 0;  // of the library, that were shown

  bool changed_ = true;
  Versions seen_;
  QueueState queue_state_;
  LibraryState library_state_;
  std::shared_ptr<const WatchState> watch_state_;
  RunLabel asked_label_;                                 // of the run on screen
  std::shared_ptr<const ui::state::RunView> live_view_;  // what the library was told last
  ui::state::TrainerSetup trainer_state_;
  std::shared_ptr<const ui::state::Snapshot> snapshot_;

  TrainerStatus trainer_;
  RunLibrary library_;
  Baseline baseline_{knobs_, library_};
  TraceImport import_;
  RunPacking packing_;
  InspectSession inspect_;  // of the run on screen
  RunPredictor predictor_;  // from the run on screen
  ComparisonSession comparison_;
  RunWatcher watcher_;      // the run on screen
  RunWatcher job_watcher_;  // the job while another run is on screen
  JobQueue queue_;
  SweepSession sweeps_;  // ends before the queue that runs its jobs
};

}  // namespace shardlens::app::session
