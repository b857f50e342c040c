// The wall clock, as Recorder::now_ns(), from the processor's own counter: a third of the price,
// twice for every operator. Corrected by the wall clock a thousand times a second. One thread.
#pragma once

#include <cstdint>

#include "profiler/recorder/callback_cost.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::pytorch {

class TickClock {
 public:
  // Never earlier than what was given before, unless the wall clock was set back.
  std::int64_t now_ns() {
    if (!is_usable_) return recorder::Recorder::now_ns();
    const std::uint64_t ticks = recorder::read_ticks();
    if (ticks - anchor_ticks_ >= ticks_per_anchor_) return anchor();
    const auto since = static_cast<std::int64_t>(ticks - anchor_ticks_);
    const std::int64_t now =
        anchor_ns_ + static_cast<std::int64_t>(static_cast<double>(since) * ns_per_tick_);
    return last_ns_ = now > last_ns_ ? now : last_ns_;
  }

 private:
  std::int64_t anchor();

  bool is_usable_ = recorder::tick_counter_is_steady();
  double ns_per_tick_ = 0;
  std::uint64_t ticks_per_anchor_ = 0;  // 0: the rate is not known yet
  std::uint64_t anchor_ticks_ = 0, first_ticks_ = 0;
  std::int64_t anchor_ns_ = 0, first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace shardlens::profiler::pytorch
