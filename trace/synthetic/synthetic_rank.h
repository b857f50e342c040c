// The rows and events of one rank of a synthetic run, a step at a time. One thread.
#pragma once

#include <cstdint>

#include "trace/model/batch.h"
#include "trace/synthetic/random_numbers.h"
#include "trace/synthetic/step_schedule.h"
#include "trace/synthetic/step_shape.h"

namespace shardlens::trace::synthetic {

// What its GPU says of itself: made-up counters at the rate and in the units of NVML. The same for
// the same seed.
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

class SyntheticRank {
 public:
  SyntheticRank(const StepShape& shape, int rank, int ranks, std::uint64_t seed);

  model::Batch definitions() const;  // what comes before the first step
  model::Batch step(std::int64_t index, const RankStepTimes& times);

 private:
  void add_rows(const RankStepTimes& times);
  void add_cost(const RankStepTimes& times);
  void add_collectives(const RankStepTimes& times);
  void add_copies(const RankStepTimes& times);
  void add_stage(const ModelStage& stage, const StageTimes& times, int host_lane);
  void add_call(const KernelCall& call, std::int64_t host_start, std::int64_t host_ns,
                int host_lane);
  void free_activations(const ModelStage& stage, const StageTimes& times);
  void add_allocation(int lane, std::int64_t time, model::StringId name, std::int64_t bytes);
  void sample_memory(std::int64_t time, bool is_peak);
  std::vector<model::Event>& events(int lane, model::EventKind kind);

  const StepShape& shape_;
  const int rank_;
  const int ranks_;
  RandomNumbers random_;
  SyntheticGpu gpu_;
  std::int64_t step_ = 0;
  std::uint64_t correlation_ = 0;
  std::int64_t sequence_ = 0;
  std::int64_t parameters_ = 0;
  std::int64_t activation_bytes_ = 0, peak_bytes_ = 0;
  model::RecorderCost cost_;
  model::Batch batch_;
};

}  // namespace shardlens::trace::synthetic
