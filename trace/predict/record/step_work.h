// What the ranks of a recorded step computed, with all waiting for communication taken out: what is
// left when the step is scheduled again in another way. Plain values, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardlens::trace::predict {

// A moment of a rank, by what it had computed since its micro-batch began.
struct Moment {
  std::int64_t computed_ns = 0;
  // The part of `computed_ns` during which communication worked on the same cores.
  std::int64_t contended_ns = 0;

  bool operator==(const Moment&) const = default;
};

struct UnitForward {  // forward enters a unit
  int unit = 0;
  Moment begin{};
};

struct UnitBackward {
  int unit = 0;
  Moment begin{}, end{};  // with the second forward of what is recomputed
};

// Of layers in the order in which forward comes to them.
struct LayerMoments {
  std::vector<Moment> forwards{};   // the begin of each, and the end of the last
  std::vector<Moment> backwards{};  // the same for backward, from the last layer to the first
  // When backward came to each layer that it computed forward of a second time. Empty: it did of
  // none.
  std::vector<Moment> second_forwards{};
};

struct MicroBatchWork {
  Moment forward_begin{}, backward_begin{};
  std::vector<UnitForward> forwards{};    // of all units but the root, as forward enters them
  std::vector<UnitBackward> backwards{};  // the same units, as backward comes to them
  LayerMoments layers{};                  // empty: nobody has asked for them
  std::vector<Moment> gradients{};        // ready, in the order in which they came
  Moment end{};                           // of what backward computes
  // Parts of it: what takes as long with any batch, and what makes gradients ready; see RankTimes.
  std::int64_t steady_ns = 0, gradients_ns = 0;
};

// What a rank's host did itself for one gather or reduction of a unit, beside waiting for it:
// copies into and out of what was moved.
struct UnitWork {
  enum class What : std::uint8_t { kBeforeGather, kBehindGather, kReduce };
  What what = What::kReduce;
  int unit = 0;
  std::int64_t ns = 0;
};

struct RankWork {
  std::int64_t start_ns = 0, end_ns = 0;  // of the step; absolute
  std::vector<MicroBatchWork> micro_batches{};
  // When backward of the last one had ended, with all that it waits for; absolute.
  std::int64_t backward_end_ns = 0;
  std::int64_t optimizer_ns = 0;  // computed in the optimizer's phase
  // What `optimizer_ns` would be, had this rank updated as much as the rank that updated most; 0:
  // all updated as much.
  std::int64_t fullest_optimizer_ns = 0;
  // In their order; what micro-batches computed is without them. Empty: not told apart.
  std::vector<UnitWork> unit_works{};
};

struct StepWork {
  std::int64_t index = 0;
  std::vector<RankWork> ranks{};  // with as many micro-batches each
};

}  // namespace shardlens::trace::predict
