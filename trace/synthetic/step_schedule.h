// When every stage and collective of a synthetic run's steps happens, on all ranks: collectives end
// when the last rank has come. The same for the same seed. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/synthetic/random_numbers.h"
#include "trace/synthetic/step_shape.h"

namespace shardlens::trace::synthetic {

struct StageTimes {
  std::int64_t host_start = 0, host_end = 0;
  std::int64_t gpu_start = 0, gpu_end = 0;
};

struct CollectiveTimes {
  std::int64_t ready = 0;     // its last gradient
  std::int64_t enqueued = 0;  // the host's call
  std::int64_t start = 0, end = 0;
};

struct RankStepTimes {
  std::int64_t start = 0, data_end = 0, end = 0;
  bool is_slow = false;  // the rank computes slower than the others
  std::vector<StageTimes> forward, backward;
  StageTimes optimizer;
  std::vector<CollectiveTimes> collectives;  // a bucket each, then the loss
};

class StepSchedule {
 public:
  // `start_ns`: of the first step.
  StepSchedule(const StepShape& shape, int ranks, std::uint64_t seed, std::int64_t start_ns);

  void advance();  // to the first step, then to the next
  std::int64_t step() const { return step_; }
  const RankStepTimes& of(int rank) const { return times_[static_cast<std::size_t>(rank)]; }

 private:
  void run_stages(int rank);
  void run_collectives();
  void run_optimizer(int rank);
  bool is_slow(int rank) const;

  const StepShape& shape_;
  RandomNumbers random_;
  std::int64_t step_ = -1;
  std::int64_t start_ns_;
  std::vector<RankStepTimes> times_;
};

}  // namespace shardlens::trace::synthetic
