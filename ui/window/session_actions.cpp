#include "ui/window/session_actions.h"

#include "ui/present/job_text.h"
#include "ui/present/tables/ledger_cells.h"

namespace shardlens::ui::window {

void add_job_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                     state::Commands& commands) {
  const auto send = sender(commands);
  const present::StartControls controls = present::start_controls(snapshot);
  if (!present::only_views(snapshot)) {  // where none can be started now, the answer says why
    const std::string title =
        controls.starts_a_run() ? controls.label + " · " + controls.detail : "Start the run";
    out.push_back(
        {title, "Ctrl+Enter", send(state::StartRun{}), "Start the run, queue, train", true});
  }
  if (!controls.stop_and_start.empty()) {
    out.push_back({controls.stop_and_start, "", send(state::StartRun{.stop_current = true}),
                   controls.stop_and_start, true});
  }
  if (snapshot.job.phase == state::JobPhase::kStopping) {
    out.push_back({"Stop the run now, without what is not saved", "",
                   send(state::StopRun{.at_once = true}), "Stop the run now, end", true});
  } else if (snapshot.job.phase != state::JobPhase::kNone) {
    out.push_back({"Stop the run", "", send(state::StopRun{}), "Stop the run, end", true});
  }
  if (!snapshot.job.queued.empty()) {
    out.push_back({"Cancel all queued runs", "", send(state::CancelQueued{}),
                   "Cancel the queued runs", true});
  }
}

void add_library_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                         state::Commands& commands) {
  const auto send = sender(commands);
  if (snapshot.run) {
    out.push_back({"Export this run as one file", "",
                   send(state::ExportRun{snapshot.run->figures.info.folder}),
                   "export pack save share"});
    out.push_back({"Export this run for Perfetto", "",
                   send(state::ExportRun{snapshot.run->figures.info.folder, true}),
                   "export chrome trace json save kineto"});
  }
  if (!snapshot.ledger) return;
  if (const auto deleted = snapshot.ledger->deleted; deleted > 0) {
    out.push_back(
        {present::undo_text(deleted), "", send(state::UndoDelete{}), "undo restore deleted runs"});
  }
  for (const state::LedgerRow& row : snapshot.ledger->rows) {
    const std::string run = row.ordinal.empty() ? "run" : row.ordinal;
    out.push_back({"Open " + run + " · " + row.name, "", send(state::ShowRun{row.folder}),
                   (row.is_bundled ? "open run " : run + " ") + row.name});
  }
}

void add_tuning_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                        state::Commands& commands) {
  const auto send = sender(commands);
  out.push_back({"Plan: what every strategy would need", "P", send(state::ShowPlan{})});
  out.push_back({"Sweep: try many values of a setting…", "", send(state::OpenSweepCard{}),
                 "sweep grid values"});
  out.push_back({"Search: run only what may win…", "", send(state::OpenSweepCard{.searches = true}),
                 "search tune best strategy settings"});
  if (snapshot.sweep && !snapshot.sweep->running.empty()) {
    out.push_back(
        {"Stop the sweep", "", send(state::StopSweep{}), "Stop the sweep, end the sweep", true});
  }
  out.push_back({"Reset settings to the baseline", "", send(state::ResetKnobs{})});
  out.push_back({"Copy the next run's settings as PyTorch code", "",
                 send(state::CopySettingsAs{"", "pytorch"}), "copy code pytorch settings"});
}

void add_replay_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                        state::Commands& commands) {
  const auto send = sender(commands);
  if (snapshot.replay.active) {
    out.push_back({snapshot.replay.playing ? "Pause the replay" : "Play the replay", "Space",
                   send(state::SetReplayPlaying{!snapshot.replay.playing})});
    out.push_back({"Leave the replay", "", send(state::StopReplay{})});
  } else if (snapshot.run) {
    out.push_back(
        {"Replay this run", "", send(state::StartReplay{snapshot.run->figures.info.folder})});
  }
  if (snapshot.run) {  // in a replay Space plays and pauses it
    out.push_back({"Follow the latest step", snapshot.replay.active ? "" : "Space",
                   send(state::SelectStep{-1})});
  }
}

}  // namespace shardlens::ui::window
