// What is known of a whole run: its name, status and settings. Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/model/bookmarks.h"

namespace shardlens::trace::model {

// What was predicted of a run's step time before it ran.
struct StepPrediction {
  double step_ns = 0;                     // mean of the measured steps
  std::optional<double> low_ns, high_ns;  // 95 %; not known: no value
  std::string from;                       // the name that the run had which it was made from

  bool operator==(const StepPrediction&) const = default;
};

// kIncomplete: it trained to its end, but less was recorded than was to be.
enum class RunStatus : std::uint8_t { kRunning, kDone, kStopped, kFailed, kIncomplete };
std::string_view to_string(RunStatus);

struct RunInfo {
  std::string name;    // unique within a library
  std::string folder;  // or the packed file
  RunStatus status = RunStatus::kRunning;
  std::string reason;  // why it is not done; one to three sentences
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // 0 while it runs
  std::string device;       // "cpu", "cuda"
  int world_size = 0;
  int recorded_ranks = 0;     // of them; 0: all. A step is complete when these have told theirs
  std::string machine;        // that began it, see base::machine_mark(); "": not known
  std::string job;            // what was run there, likewise; "": not known
  bool is_packed = false;     // hosts are numbered, places shortened, the command is left out
  std::string program;        // "shardlens 0.1.0"
  std::string imported_from;  // "PyTorch profiler": another program's; `settings` say nothing then
  std::string command;        // of another program that was recorded while it ran; "": none
  job::Settings settings;
  // Anything that makes the timings unlike a real job's; shown with every view of the run.
  bool simulated_link = false;
  bool shared_gpu = false;
  bool communication_off = false;  // `communication: none`: the loss is invalid
  // The user's own words about the run, and words by which to find it.
  std::string note;
  std::vector<std::string> tags;
  Bookmarks bookmarks;
  std::optional<StepPrediction> predicted;  // none: nothing was, before it ran
  // Ranks, or the rest of them, that could not be read, and why; found while reading, never stored.
  std::vector<std::string> unreadable;
};

// `imported_from` of a program that was recorded while it ran.
inline constexpr std::string_view kRecordedProgram = "another program";
inline bool was_recorded_from_outside(const RunInfo& info) {
  return info.imported_from == kRecordedProgram;
}

// Whether `settings` are those of the job: of another program's they say nothing.
inline bool has_settings(const RunInfo& info) { return info.imported_from.empty(); }

}  // namespace shardlens::trace::model
