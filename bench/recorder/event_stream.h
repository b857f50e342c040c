// Made-up operators for a recorder. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/recorder/recorder.h"

namespace shardlens::bench {

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
