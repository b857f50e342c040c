// Everything behind the window: carries out what panels ask for and gathers what they show. Each of
// its parts carries out alone what concerns no other. Interface thread only; no call waits for a
// file, a process or another thread's work, but that dropped settings, at most 1 MiB, are read at
// once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/compare/comparison_session.h"
#include "app/session/files/run_export.h"
#include "app/session/files/trace_import.h"
#include "app/session/inspect/inspect_session.h"
#include "app/session/jobs/knob_editor.h"
#include "app/session/jobs/strategy_planner.h"
#include "app/session/jobs/trainer_status.h"
#include "app/session/lessons/kept_screen.h"
#include "app/session/lessons/lesson_session.h"
#include "app/session/next_run.h"
#include "app/session/runs/ledger.h"
#include "app/session/runs/run_library.h"
#include "app/session/sweep/sweep_session.h"
#include "app/session/tuning/run_predictor.h"
#include "app/session/watch/current_job.h"
#include "app/session/watch/shown_run.h"
#include "app/session/worker/free_memory.h"
#include "app/session/worker/notice.h"
#include "trace/base/result.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

struct ControllerOptions {
  std::filesystem::path runs_dir = "runs";
  std::filesystem::path bundled_dir;           // "": none
  std::vector<std::filesystem::path> lessons;  // files or folders; empty: came with the program
  std::filesystem::path run;                   // to show first; "": the newest, else an example
  bool replay = false;                         // plays `run`
  double replay_speed = 1;                     // until the user chooses another
  trace::job::Settings first_settings;         // of the first job, as long as no run says otherwise
  std::filesystem::path trainer_status;        // see TrainerStatus
  std::filesystem::path save_dir = ".";        // where tables and pictures are saved
  std::filesystem::path home;                  // what "~" stands for in a path; "": not known
  Machine machine;                             // for which estimates are made
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
  double replay_speed() const { return shown_.replay_speed(); }
  // For the clipboard, which belongs to the window; once.
  std::optional<std::string> take_copied_text() { return std::exchange(copied_text_, {}); }
  // A part of the window that is to be saved, which the window does; once.
  std::optional<ui::state::SavePicture> take_wanted_picture() {
    return std::exchange(wanted_picture_, {});
  }
  void note_saved(const trace::base::Result<std::filesystem::path>& file);
  const std::filesystem::path& save_dir() const { return options_.save_dir; }

 private:
  // What concerns several parts, the notice as one of them, or is one call of one.
  void carry_out(const ui::state::StartRun& command);
  void carry_out(const ui::state::StopRun& asked) {
    asked.at_once ? job_.queue().kill_now() : job_.queue().stop();
  }
  void carry_out(const ui::state::CancelQueued& asked) { job_.queue().cancel_queued(asked.id); }
  void carry_out(const ui::state::MoveQueued& asked) {
    job_.queue().move_queued(asked.id, asked.places);
  }
  void carry_out(const ui::state::SetReplaySpeed& command);
  void carry_out(const ui::state::RetryTrainerSetup&) { trainer_.retry(); }
  void carry_out(const ui::state::ShowPlan& command);
  void carry_out(const ui::state::SetPlanTarget& asked) {
    notice_.take(planner_.set_target(asked));
  }
  void carry_out(const ui::state::OpenSweepCard& command);
  void carry_out(const ui::state::StartSweep& command);
  void carry_out(const ui::state::ResumeSweep& command);
  void carry_out(const ui::state::CompareRuns& command);
  void carry_out(const ui::state::CopySettingsAs& command);
  void carry_out(const ui::state::EditRuns& command);
  void carry_out(const ui::state::DeleteRuns& command);
  void carry_out(const ui::state::UndoDelete& command);
  void carry_out(const ui::state::ChangeBookmark& command);
  void carry_out(const ui::state::CopyText& command) { copied_text_ = command.text; }
  void carry_out(const ui::state::SaveText& command);
  void carry_out(const ui::state::SavePicture& command) { wanted_picture_ = command; }
  void carry_out(const ui::state::OpenFiles& command);
  void carry_out(const ui::state::ExportRun& command) { run_export_.write(command); }
  void carry_out(const ui::state::ShowLessons& command);
  void carry_out(const ui::state::GoToView& command) { lessons_.look_for(command); }
  void carry_out(const ui::state::Quit&);
  void carry_out(const ui::state::KeepOpen&) { asks_to_close_ = false; }

  void compare(const std::vector<std::string>& folders, std::int64_t step);
  void touch() { changed_ = true; }

  LedgerRows rows() const { return library_state_.ledger->rows; }
  std::vector<std::string> taken_names() const;

  // Runs, sweeps, imports or packing, of this window: they would end with it.
  bool is_at_work() const;
  std::vector<std::string> file_work() const;
  // What is new in one part is told to the others.
  void follow_job();
  void follow_library();
  void follow_shown();
  void follow_lessons();
  void go_to(const FoundView& found);
  void follow_import();
  void follow_inspect();
  void show_new_run(const std::filesystem::path& run);  // stays, also when lessons are left

  const SharedArenas arenas_;
  const std::filesystem::path runs_dir_;
  const ControllerOptions options_;

  KnobEditor knobs_;
  StrategyPlanner planner_;
  Notice notice_;
  bool quit_requested_ = false, asks_to_close_ = false;
  std::optional<std::string> copied_text_;
  std::optional<ui::state::SavePicture> wanted_picture_;
  bool looks_around_ = false;
  std::shared_ptr<const ui::state::ViewAddress> gone_to_;
  std::string page_problem_;  // why the newest page of a lesson shows nothing

  bool changed_ = true;
  LibraryState library_state_;
  LiveLedger ledger_;
  ui::state::TrainerSetup trainer_state_;
  std::shared_ptr<const ui::state::Snapshot> snapshot_;

  TrainerStatus trainer_;
  RunLibrary library_;
  TraceImport import_;
  RunExport run_export_;
  InspectSession inspect_;  // of the run on screen
  RunPredictor predictor_;  // from the run on screen
  ComparisonSession comparison_;
  ShownRun shown_;
  LessonSession lessons_;
  KeptScreen before_lessons_{shown_.watcher(), knobs_, comparison_};
  NextRun next_{knobs_, library_, shown_, before_lessons_, notice_};
  CurrentJob job_;
  SweepSession sweeps_;  // ends before the queue that runs its jobs
};

}  // namespace shardlens::app::session
