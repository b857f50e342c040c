// Which moment of a recorded run is on screen while it is replayed. Pure: the caller passes the
// wall time, so tests need none. Not thread-safe; one owner.
#pragma once

#include <cstdint>

#include "ui/state/snapshot.h"

namespace shardlens::app::session {

using ui::state::kFastestReplay;
using ui::state::kSlowestReplay;

class ReplayClock {
 public:
  // Covers [start_ns, end_ns] of trace time, standing at its start, paused.
  void load(std::int64_t start_ns, std::int64_t end_ns);

  // Playing from the end begins again at the start.
  void play(std::int64_t wall_ns);
  void pause(std::int64_t wall_ns);
  // Times real time, clamped to 0.01 … 100; a value that is not a number is ignored.
  void set_speed(double speed, std::int64_t wall_ns);
  // Clamped to the run; keeps playing or pausing.
  void seek(std::int64_t trace_ns, std::int64_t wall_ns);

  std::int64_t now_ns(std::int64_t wall_ns) const;
  bool at_end(std::int64_t wall_ns) const { return now_ns(wall_ns) >= end_ns_; }
  // False once the end is reached.
  bool playing(std::int64_t wall_ns) const { return playing_ && !at_end(wall_ns); }

  std::int64_t start_ns() const { return start_ns_; }
  std::int64_t end_ns() const { return end_ns_; }
  double speed() const { return speed_; }

 private:
  void anchor(std::int64_t wall_ns);

  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t position_ns_ = 0;  // at anchor_wall_ns_
  std::int64_t anchor_wall_ns_ = 0;
  double speed_ = 1;
  bool playing_ = false;
};

}  // namespace shardlens::app::session
