// What the job's controls say: what Start does is written on it. Free of ImGui.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

struct StartControls {
  enum class Kind { kStart, kQueue, kInstalling, kInstallFailed, kViewerOnly } kind = Kind::kStart;
  std::string label;           // of the main button, or the line in its place
  std::string detail;          // the next run's name, or what to do; may be ""
  std::string stop_and_start;  // the second button while a job runs; "" for none
  bool enabled = true;         // false: a setting has a problem

  // A run, at once or after those that wait.
  bool starts_a_run() const { return kind == Kind::kStart || kind == Kind::kQueue; }
};
StartControls start_controls(const state::Snapshot& snapshot);
// Why no run can be started now; "" where one can.
std::string why_no_start(const state::Snapshot& snapshot);
// The build has no trainer: nothing can be started.
bool only_views(const state::Snapshot& snapshot);

// The run on screen, or where there is none the job, has no step yet and is to have one.
bool awaits_first_step(const state::Snapshot& snapshot);

// "run 4": of the job that runs; "": the library does not know it yet.
std::string running_ordinal(const state::Snapshot& snapshot);

// "run 5": the ordinal that the next run will have, behind those that wait.
std::string next_ordinal(const state::Ledger* ledger, std::size_t queued = 0);

// What a repetition is named after: "cap 4" of "cap 4", "cap 4 again" and "cap 4 again 2".
std::string_view repeated_name(std::string_view name);

// What tells each run that waits from the others and from the one that runs: its name without the
// parts, between commas, that all of them have. Whole where that leaves nothing.
std::vector<std::string> queued_names(const state::JobState& job);

struct ProgressText {
  float fraction = -1;  // -1: no bar
  std::string left;     // "step 312 of 500", "done"
  std::string right;    // "38 s left"
  std::string details;  // "done after 500 steps, 1:58"; "" while it runs
  bool failed = false;
};
// How far a run has come of its settings' steps: those before the checkpoint that it was resumed
// from count.
std::int64_t steps_reached(const trace::analysis::RunFigures& figures);
std::string steps_text(std::int64_t steps);  // "1 step", "1,200 steps"
ProgressText progress_text(const state::Snapshot& snapshot);

// The GPUs of a run with driver, CUDA, NCCL and what links them, each kind once: "NVIDIA H100;
// driver 580.95.05, …; linked by NVLink 4, 18 links, 450 GB/s at most". None of a run on the CPU.
std::vector<std::string> device_lines(const trace::analysis::RunFigures& figures);

// What stands before the figure of what recording costs: "", "about ", "at least ".
const char* overhead_bound(const trace::analysis::RecorderFigures& recorder);
// What recording did: "12,340 events in 1.2 MiB; recording makes steps about 0.8 % longer,
// estimated; none lost"
std::string recorder_text(const trace::analysis::RecorderFigures& recorder);

// What the events and the cost in it are, and where the cost comes from.
std::string recorder_definition(const trace::analysis::RecorderFigures& recorder);

// All that stands above the workspace, most pressing first; `inspects`: above Inspect.
struct Message {
  std::vector<std::string> notes;  // each can be read by itself
  bool is_error = false;
  bool is_answer = false;  // what came of the last command, and it went well
};
std::vector<Message> messages(const state::Snapshot& snapshot, bool inspects = false);

// What closing the window would end, before it does.
struct ClosingText {
  std::string going_on;  // "Run 12 is at step 34 of 300; 2 more wait."
  std::string effect;    // "The run is stopped; what it has recorded is kept. …"
};
ClosingText closing_text(const state::Snapshot& snapshot);

}  // namespace shardlens::ui::present
