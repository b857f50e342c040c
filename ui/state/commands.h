// What panels ask for: plain values that `app` carries out after the frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trace/model/bookmarks.h"
#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/name_hits.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"
#include "trace/timeline/values/step_memory.h"
#include "ui/state/geometry.h"
#include "ui/state/sweep_view.h"
#include "ui/state/view_address.h"

namespace shardlens::ui::state {

struct SetKnob {
  std::string name, text;
};
struct ResetKnobs {};  // to the baseline's values
struct ResetKnob {
  std::string name;
};
struct StartRun {
  bool stop_current = false;
};  // starts, or queues while a job runs
struct StopRun {
  bool at_once = false;  // one that is being stopped; else after its step
};
struct CancelQueued {
  std::uint64_t id = 0;  // of a job that waits; 0: all of them
};
struct MoveQueued {
  std::uint64_t id = 0;
  int places = -1;  // -1: one earlier
};
struct ShowRun {
  std::string folder;
};  // open a run of the ledger
struct SetBaseline {
  std::string folder;
};  // "": the last run is the baseline again
// What a user says of runs; what is not given stays.
struct EditRuns {
  std::vector<std::string> folders;
  std::optional<std::string> name, note;  // of a single run
  std::optional<std::vector<std::string>> tags;
};
struct DeleteRuns {
  std::vector<std::string> folders;
};  // until the window closes they can be had back
struct UndoDelete {};
struct CompareRuns {
  std::vector<std::string> folders;
  std::int64_t step = -1;  // that is shown of each; -1: a typical one of each
};  // two to six; the first is the base. One or none: what is still to be chosen from
struct CopySettings {
  std::string folder;
};  // the settings of that run, of the ledger or on screen, become the next run's
struct CopySettingsAs {
  std::string folder;  // "": the next run's settings
  std::string format;  // "pytorch", "deepspeed" or "accelerate", as of `shardlens export`
};                     // that run's settings as the file of another framework
struct SelectStep {
  std::int64_t step = -1;
};  // -1: follow the latest
struct StartReplay {
  std::string folder;
};
struct StopReplay {};
struct SetReplayPlaying {
  bool playing = true;
};
struct SetReplaySpeed {
  double speed = 1;
};
struct SeekReplay {
  std::int64_t time_ns = 0;
};
struct RetryTrainerSetup {};
struct ShowPlan {
  bool is_shown = true;
};  // the card with what every strategy would need
struct SetPlanTarget {
  std::string name, text;  // "model", "gpu", "gpus_per_node" or "nodes"
};
struct CopyText {
  std::string text;
};
struct SaveText {
  std::string file_name, text;
};  // a table as CSV
struct SavePicture {
  std::string file_name;
  Rect area;  // of the window, in pixels
};
// Of the Inspect workspace.
struct ShowTimeline {
  trace::timeline::PictureRequest request;
};
struct SelectRange {
  trace::timeline::TimeRange range{};
};  // that statistics are of; empty: the whole run
struct PickEvent {
  trace::timeline::EventRef event;
};
struct DropEvent {};
struct FindNames {
  trace::timeline::NamePattern pattern{};
};  // "": nothing is looked for any more
struct GoToHit {
  int direction = 1;  // or -1
  std::int64_t from_ns = 0;
};
struct GoToEvent {
  trace::timeline::EventPlace place;
};  // shows and picks it
struct GoToNeighbour {
  trace::timeline::EventRef event;
  int direction = 1;  // or -1
};                    // shows and picks the one behind or before it on its row and level
struct ChangeBookmark {
  trace::model::BookmarkChange change;
};  // of the run that is looked around in
struct ShowMemory {
  trace::timeline::StepMemoryRequest request;
};
struct RunSql {
  std::string query;
};
struct StopSql {};
struct OpenFiles {
  std::vector<std::string> paths;
};  // traces of other programs are imported, as one run; of runs the first is shown
// Into one file beside the pictures and tables that are saved.
struct ExportRun {
  std::string folder;
  bool as_trace = false;  // for Perfetto; else packed
};
// Of sweeps.
struct OpenSweepCard {
  std::string knob{};     // to vary first; "": one that is worth it
  bool searches = false;  // only what may win is run; it says itself what varies
};
struct CloseSweepCard {};
struct EditSweep {
  SweepDraft draft;
};
struct StartSweep {};  // that of the card
struct StopSweep {};   // that of this window, and its run
struct ResumeSweep {
  std::string name;
};
// "": the one that runs, or the newest.
struct ShowSweep {
  std::string name;
};
// Of the Learn workspace.
struct ShowLessons {
  bool is_shown = true;
};  // what pages change while they are on screen is to be had back behind them
// What a page shows; the newest counts. Its answer is Snapshot::gone_to.
struct GoToView {
  ViewAddress address;
  double replay_speed = 0;  // times as fast as the run was; 0: it is not played
  std::string lesson_file;  // runs in its folder come first, and a problem names it
};
// Asks first while something would end; asked again, it closes.
struct Quit {};
// The answer to that.
struct KeepOpen {};

using Command =
    std::variant<SetKnob, ResetKnobs, ResetKnob, StartRun, StopRun, CancelQueued, MoveQueued,
                 ShowRun, CompareRuns, EditRuns, DeleteRuns, UndoDelete, SetBaseline, CopySettings,
                 CopySettingsAs, SelectStep, StartReplay, StopReplay, SetReplayPlaying,
                 SetReplaySpeed, SeekReplay, RetryTrainerSetup, ShowPlan, SetPlanTarget, CopyText,
                 SaveText, SavePicture, ShowTimeline, SelectRange, PickEvent, DropEvent, FindNames,
                 GoToHit, GoToEvent, GoToNeighbour, ChangeBookmark, ShowMemory, RunSql, StopSql,
                 OpenFiles, ExportRun, OpenSweepCard, CloseSweepCard, EditSweep, StartSweep,
                 StopSweep, ResumeSweep, ShowSweep, ShowLessons, GoToView, Quit, KeepOpen>;
using Commands = std::vector<Command>;

}  // namespace shardlens::ui::state
