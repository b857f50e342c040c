// How far apart two clocks are, and that somebody set the one in which a run is recorded.
#pragma once

#include <cstdint>
#include <optional>

namespace shardlens::profiler::recorder {

struct ClockOffset {
  std::int64_t offset_ns = 0;  // the clock's time minus the reference's
  std::int64_t error_ns = 0;   // of the offset, at most: half of the round trip
};

// The reading with the shortest round trip of several. `clock` returns an optional time in ns,
// `reference` one that there always is. None if the clock gives no time.
template <typename Clock, typename Reference>
std::optional<ClockOffset> measure_clock_offset(Clock&& clock, Reference&& reference) {
  constexpr int kReadings = 5;
  std::optional<ClockOffset> best;
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t before = reference();
    const std::optional<std::int64_t> time = clock();
    const std::int64_t after = reference();
    if (!time) return std::nullopt;
    const std::int64_t error = (after - before + 1) / 2;
    if (best && best->error_ns <= error) continue;
    best = ClockOffset{*time - (before + (after - before) / 2), error};
  }
  return best;
}

// What is to be done once a second, say, by a clock that may be set. One thread.
class ClockInterval {
 public:
  explicit ClockInterval(std::int64_t length_ns) : length_ns_(length_ns) {}
  // At once where the clock was set back: nobody knows how long ago it was.
  bool is_over(std::int64_t now_ns) {
    if (now_ns - since_ns_ < length_ns_ && now_ns >= since_ns_) return false;
    since_ns_ = now_ns;
    return true;
  }

 private:
  const std::int64_t length_ns_;
  std::int64_t since_ns_ = 0;
};

// One thread.
class ClockWatch {
 public:
  static constexpr std::int64_t kLeastNs = 1'000'000;

  // CLOCK_REALTIME minus CLOCK_MONOTONIC. The kernel slews both alike, so that only who sets the
  // first, or a suspended machine, changes it.
  static ClockOffset read();

  // By how many ns the clock was set since it was last told, if that is certainly above kLeastNs.
  std::optional<std::int64_t> moved(const ClockOffset& now);

 private:
  std::optional<ClockOffset> known_;
};

}  // namespace shardlens::profiler::recorder
