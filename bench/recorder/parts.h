// What `bench recorder` measures, part by part, and with what. The main thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "profiler/recorder/recorder.h"
#include "trace/base/file_system.h"

namespace shardlens::bench {

using Rows = std::vector<BenchRow>;

// The share of the checksums in what recording costs.
trace::base::Result<void> measure_checksums(Rows& rows);

// Steps of a small training loop with a recorder, with an observer that does nothing, and with
// none, in turn; `budget`: how much longer a recorded step may be.
struct StepJob {
  std::string what;
  int width = 0;
  int blocks = 0;
  double budget = 0;
  bool on_one_core = false;  // shared by the loop and the recorder's threads
};
trace::base::Result<void> measure_steps(const StepJob& job, Rows& rows);

// A recorder that writes into a temporary folder.
struct ScratchRecorder {
  trace::base::TemporaryFolder folder;
  std::unique_ptr<profiler::recorder::Recorder> recorder;

  std::filesystem::path file() const { return folder.path() / "rank_0.sqlite"; }
};
inline trace::base::Result<ScratchRecorder> start_scratch_recorder(
    profiler::recorder::RecorderOptions options = {}) {
  TRY_ASSIGN(auto folder, trace::base::TemporaryFolder::create());
  options.file = folder.path() / "rank_0.sqlite";
  TRY_ASSIGN(auto recorder, profiler::recorder::Recorder::start(std::move(options)));
  return ScratchRecorder{std::move(folder), std::move(recorder)};
}

// Made-up operators for a recorder.
// As an operator trace looks: 40 names, irregular durations of one or two microseconds, as a
// launch-bound job has them, or of up to a quarter of a millisecond. The times of as many of those
// lie in the future.
class EventStream {
 public:
  enum class Times { kNow, kAhead };
  explicit EventStream(profiler::recorder::Recorder& recorder, Times times = Times::kNow)
      : recorder_(recorder),
        times_(times),
        lane_(recorder.add_lane(trace::model::LaneKind::kOperators, "bench")) {
    for (int i = 0; i < 40; ++i) names_.push_back(recorder.intern("aten::op" + std::to_string(i)));
  }
  void push(int count) {
    for (int i = 0; i < count; ++i) {
      trace::model::Event event;
      event.start_ns = time_;
      // Linear congruential, constants of Numerical Recipes; its high bits are irregular.
      random_ = random_ * 1664525 + 1013904223;
      event.duration_ns = times_ == Times::kNow ? 300 + (random_ >> 21) : 1'000 + (random_ >> 14);
      event.name = names_[(random_ >> 8) % names_.size()];
      event.flags = trace::model::kEventLeaf;
      recorder_.add_event(lane_, trace::model::EventKind::kOperator, event);
      time_ += event.duration_ns + 100;
    }
  }

 private:
  profiler::recorder::Recorder& recorder_;
  const Times times_;
  const int lane_;
  std::vector<trace::model::StringId> names_;
  std::int64_t time_ = profiler::recorder::Recorder::now_ns();
  std::uint32_t random_ = 1;
};

}  // namespace shardlens::bench
