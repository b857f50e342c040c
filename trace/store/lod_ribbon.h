// The ribbon of a rank as tiles: what its time went to, by class. The partition is that of
// analysis: compute under communication is overlapped; then compute, the optimizer's apart; exposed
// communication; copies; idle. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/model/events.h"
#include "trace/store/lod_event.h"
#include "trace/store/lod_tile.h"

namespace shardlens::trace {

// Kernels of such names are communication, as in analysis.
inline constexpr std::string_view kLodCommunicationPrefix = "nccl";

struct LodInterval {  // half-open
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  auto operator<=>(const LodInterval&) const = default;
};

// Neither reversed nor longer than a day nor beyond any calendar, as in analysis; all else is
// damage and no part of the ribbon.
inline constexpr std::int64_t kLodLatestTime = std::int64_t{1} << 62;
inline bool is_plausible_time(std::int64_t start_ns, std::int64_t end_ns) {
  return start_ns >= 0 && end_ns >= start_ns && end_ns < kLodLatestTime &&
         end_ns - start_ns <= kLodLongestNs;
}

// Long work makes many tiles, so damaged times must not make many of it: of events only what is
// shorter counts, of collectives and steps an hour of longer ones in total.
inline constexpr std::int64_t kLodLongWorkNs = std::int64_t{1} << 36;  // 69 s
inline constexpr std::int64_t kLodMostLongWorkNs = std::int64_t{3600} * 1'000'000'000;
class LodLongWork {
 public:
  // Once per row; its times are plausible.
  bool takes(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t length = end_ns - start_ns;
    if (length <= kLodLongWorkNs) return true;
    if (length > kLodMostLongWorkNs - taken_ns_) return false;
    taken_ns_ += length;
    return true;
  }

 private:
  std::int64_t taken_ns_ = 0;
};

struct LodPhase {
  LodInterval time;
  Phase phase = Phase::kOther;

  auto operator<=>(const LodPhase&) const = default;
};

// At least what touches a tile. Where phases overlap, the one that started first keeps the time.
struct RibbonInput {
  std::span<const LodInterval> compute, communication, copies;  // each ordered and disjoint
  std::span<const LodPhase> phases;                             // ordered
  std::span<const LodInterval> recorded;    // ordered, disjoint; idle is what is left of it
  std::span<const LodInterval> undetailed;  // ordered, disjoint: steps recorded without events
};

LodTile ribbon_tile(std::int64_t index, const RibbonInput& input);
// A tile of any level in which nothing ran: what an absent tile is.
LodTile idle_tile(int level, std::int64_t index, std::span<const LodInterval> recorded);
bool is_idle(const LodTile& tile, std::span<const LodInterval> recorded);

// Orders, drops what is empty, joins what overlaps or touches.
void normalize(std::vector<LodInterval>& intervals);

}  // namespace shardlens::trace
