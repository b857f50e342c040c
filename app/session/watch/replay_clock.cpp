#include "app/session/watch/replay_clock.h"

#include <algorithm>
#include <cmath>

namespace shardlens::app::session {

void ReplayClock::load(std::int64_t start_ns, std::int64_t end_ns) {
  start_ns_ = start_ns;
  end_ns_ = std::max(start_ns, end_ns);
  position_ns_ = start_ns;
  anchor_wall_ns_ = 0;
  playing_ = false;
}

void ReplayClock::play(std::int64_t wall_ns) {
  anchor(wall_ns);
  if (position_ns_ >= end_ns_) position_ns_ = start_ns_;
  playing_ = true;
}

void ReplayClock::pause(std::int64_t wall_ns) {
  anchor(wall_ns);
  playing_ = false;
}

void ReplayClock::set_speed(double speed, std::int64_t wall_ns) {
  if (std::isnan(speed)) return;
  anchor(wall_ns);
  speed_ = std::clamp(speed, kSlowestReplay, kFastestReplay);
}

void ReplayClock::seek(std::int64_t trace_ns, std::int64_t wall_ns) {
  anchor(wall_ns);
  position_ns_ = std::clamp(trace_ns, start_ns_, end_ns_);
}

std::int64_t ReplayClock::now_ns(std::int64_t wall_ns) const {
  if (!playing_) return position_ns_;
  const double passed = static_cast<double>(std::max<std::int64_t>(0, wall_ns - anchor_wall_ns_));
  const double left = static_cast<double>(end_ns_ - position_ns_);
  // Compared before converting: a long pause at 100 × would overflow.
  if (passed * speed_ >= left) return end_ns_;
  return position_ns_ + static_cast<std::int64_t>(passed * speed_);
}

void ReplayClock::anchor(std::int64_t wall_ns) {
  position_ns_ = now_ns(wall_ns);
  anchor_wall_ns_ = wall_ns;
  if (position_ns_ >= end_ns_) playing_ = false;
}

}  // namespace shardlens::app::session
