// Statistics of everything that begins in a range of time. Plain values; nanoseconds; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/base/saturated.h"
#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

struct TimeRange {
  std::int64_t start_ns = 0, end_ns = 0;  // absolute; an event belongs to it if it begins in it
  std::vector<int> ranks;                 // empty: all
  // Of ranks that are shown aligned: how much later than the others' their times are.
  std::map<int, std::int64_t> shifts = {};

  bool operator==(const TimeRange&) const = default;
  bool has_rank(int rank) const {
    return ranks.empty() || std::ranges::find(ranks, rank) != ranks.end();
  }
  base::Interval of_rank(int rank) const {
    const auto shift = shifts.find(rank);
    if (shift == shifts.end()) return {start_ns, end_ns};
    return {base::saturated_add(start_ns, shift->second),
            base::saturated_add(end_ns, shift->second)};
  }
};

enum class StatisticsTable : std::uint8_t {
  kKernels,
  kOperators,
  kCollectives,
  kCopies,
  kLaunches
};
// What collectives are put together by; the other tables have kName alone.
enum class GroupBy : std::uint8_t { kName, kClass, kShape, kUnit };

// Logarithmic: bin i holds durations from first_ns · step^i.
inline constexpr int kHistogramBins = 48;
struct DurationHistogram {
  double first_ns = 0, last_ns = 0;  // lowest and highest duration
  std::array<std::uint32_t, kHistogramBins> counts{};

  bool operator==(const DurationHistogram&) const = default;
};

inline constexpr std::int64_t kUnknownNs = -1;

struct NameFigures {
  std::string name;
  base::TimeClass piece_class = base::TimeClass::kCompute;
  std::string
      kernel_class;  // "matrix product", "attention", "communication", …; "" unless a kernel
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  double share = 0;  // of the table's total
  // Of collectives whose times are known, here and below; kUnknownNs: of none, nor is the total.
  double mean_ns = 0;
  // Exact, the nearest rank; kUnknownNs until every event was seen.
  std::int64_t median_ns = 0, p99_ns = 0;
  std::int64_t least_ns = 0, most_ns = 0;
  std::int64_t bytes = 0;  // collectives and copies: sum, kNotKnown if one is not; else 0
  // Collectives whose start on every rank of the group is known, summed; all 0 where none is.
  std::int64_t matched = 0;
  std::int64_t wait_ns = 0;      // latest start − own start
  std::int64_t transfer_ns = 0;  // own end − latest start
  // Medians over these calls of bytes ÷ transfer, and of that × bus_factor(), in bytes per second;
  // 0: not known.
  double algbw_bytes_per_s = 0, busbw_bytes_per_s = 0;
  std::string algorithm, protocol;  // as NCCL chose them, all that occur; "": not known
  EventRef longest;                 // to be shown in the timeline
  std::int64_t longest_start_ns = 0;
  DurationHistogram histogram;

  bool operator==(const NameFigures&) const = default;
};

struct RangeTable {
  StatisticsTable table = StatisticsTable::kKernels;
  GroupBy group_by = GroupBy::kName;
  std::vector<NameFigures> rows;  // by total, the greatest first
  std::int64_t count = 0, total_ns = 0;

  bool operator==(const RangeTable&) const = default;
};

struct StragglerFigures;

struct RangeFigures {
  TimeRange range;
  std::vector<RangeTable> tables;
  bool is_whole_run = false;
  bool is_so_far = false;  // of that what a replay has come to
  double fraction = 1;     // of the run that was counted; below 1 more are to come
  double seconds = 0;      // it took
  std::string incomplete;  // what could not be read, "" for nothing
  std::shared_ptr<const StragglerFigures> stragglers;  // of the collectives; null: not counted
};

}  // namespace shardlens::trace::timeline
