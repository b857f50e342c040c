// What the GPU of a synthetic rank says of itself: made-up counters at the rate and in the units of
// NVML. The same for the same seed. One thread.
#pragma once

#include <cstdint>

#include "trace/model/batch.h"
#include "trace/synthetic/random_numbers.h"
#include "trace/synthetic/step_schedule.h"
#include "trace/synthetic/step_shape.h"

namespace shardlens::trace::synthetic {

class SyntheticGpu {
 public:
  SyntheticGpu(const StepShape& shape, int rank, std::uint64_t seed)
      : shape_(shape), rank_(rank), random_(seed) {}

  // The samples of one step, at 5 Hz over the run; a slow step is one that the heat slowed down.
  void sample(const RankStepTimes& times, std::vector<model::CounterSample>& to);

 private:
  void sample_at(std::int64_t time_ns, bool is_hot, std::vector<model::CounterSample>& to);

  const StepShape& shape_;
  const int rank_;
  RandomNumbers random_;
  std::int64_t first_ns_ = 0, next_ns_ = 0;
};

}  // namespace shardlens::trace::synthetic
