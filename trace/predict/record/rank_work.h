// What one rank computed in one recorded step, from the times that its rows tell. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/predict/record/step_work.h"

namespace shardlens::trace::predict {

// A gather or reduction of a unit, as a rank asked for it.
struct UnitCall {
  enum class What : std::uint8_t { kForwardGather, kBackwardGather, kReduce };
  What what = What::kReduce;
  int unit = 0;
  bool is_ahead = false;  // before it was needed
  std::int64_t enqueued_ns = 0, end_ns = 0;
  std::int64_t start_ns = 0;
  bool is_across_groups = false;  // of a reduction: adds up what groups of ranks have
};

// The host comes to a unit in forward or in backward, or has all of its gradients, as programs of
// PyTorch mark it.
struct UnitMark {
  enum class What : std::uint8_t { kForward, kBackward, kGradients };
  What what = What::kForward;
  int unit = 0;
  std::int64_t time_ns = 0;
};

// Of one step; absolute times, in order.
struct RankRecord {
  base::Interval step;
  std::vector<base::Interval> forwards, backwards, optimizers;  // phases
  std::vector<std::int64_t> gradients_ns;                       // ready
  std::vector<UnitCall> unit_calls;                             // by when they were asked for
  std::vector<UnitMark> unit_marks;                             // empty: nobody marks them
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

}  // namespace shardlens::trace::predict
