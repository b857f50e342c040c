// What one rank computed in one recorded step, from the times that its rows tell. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/predict/record/step_work.h"
#include "trace/predict/record/unit_record.h"

namespace shardlens::trace::predict {

// Absolute times.
struct RankTimes {
  std::vector<base::Interval> forwards, backwards, optimizers;  // phases
  std::vector<std::int64_t> gradients_ns;                       // ready
  std::vector<UnitCall> unit_calls;                             // by when they were asked for
  std::vector<UnitMark> unit_marks;                             // empty: nobody marks them
  std::vector<UnitWorkMark> unit_works{};                       // by their begin; likewise
  // What takes as long with any batch: a CPU's host on its way from one operator to the next, and
  // what is done to gradients that are ready, which are as large as parameters. Empty: not known.
  base::Intervals steady{};
  // What a CPU's host did with each gradient, to the end of what is called for it: DDP copies it
  // into its bucket and begins reductions. Empty: not known.
  base::Intervals gradient_work{};
};

// Of one step, in order.
struct RankRecord : RankTimes {
  base::Interval step;
  std::vector<std::int64_t> call_ends_ns;  // of collectives that may be awaited
  base::Intervals computes;                // operators; short pauses between them are in it
  base::Intervals works;                   // communication on the same cores
};

struct ExpectedWork {
  std::size_t gradients = 0;  // of a micro-batch; 0: any number
  std::size_t units = 0;      // with the root; 0: none
};

// None: too little was told. Without units forwards and backwards are empty; where only some
// micro-batches tell of units, they are only there.
std::optional<RankWork> rank_work(const RankRecord& record, const ExpectedWork& expected);

// What of a list, which is sorted by `time` of a value, lies in a window, both ends included.
template <typename Value, typename Time>
std::span<const Value> within(const std::vector<Value>& sorted, const base::Interval& window,
                              Time time) {
  const auto from = std::ranges::lower_bound(sorted, window.start_ns, {}, time);
  return {from, std::ranges::upper_bound(from, sorted.end(), window.end_ns, {}, time)};
}

}  // namespace shardlens::trace::predict
