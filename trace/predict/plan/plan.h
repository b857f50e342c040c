// Before a run: for every strategy what it needs on a GPU of a given size, whether it fits, what it
// sends, and the largest batch. Any thread; milliseconds, also for models of 70 B parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/memory/memory_model.h"
#include "trace/predict/plan/traffic_model.h"

namespace shardlens::trace::predict {

struct PlanRequest {
  job::Settings settings;  // its ranks and device do not count
  job::ModelShape shape;
  std::int64_t memory_bytes = 0;     // of one GPU
  std::int64_t reserved_bytes = 0;   // of it, not for tensors; kReservedBytes of gpu_table.h
  std::int64_t workspace_bytes = 0;  // cublas_workspace_bytes() of the GPU
  std::int64_t gpus_per_node = 8;
  std::int64_t nodes = 1;

  std::int64_t ranks() const { return gpus_per_node * nodes; }
  std::int64_t usable_bytes() const { return memory_bytes - reserved_bytes; }
};

struct StrategyPlan {
  job::Strategy strategy = job::Strategy::kDdp;
  std::string refused;  // why these settings do not go with it; then nothing else is known
  MemoryPrediction memory;
  TrafficPrediction traffic;
  std::int64_t spare_bytes = 0;    // of what is usable; negative: short by so much
  std::int64_t largest_batch = 0;  // per rank; 0: not even 1 fits

  std::string_view name() const { return job::strategy_traits(strategy).name; }
  bool fits() const { return refused.empty() && spare_bytes >= 0; }
};

struct Plan {
  PlanRequest request;
  std::int64_t parameters = 0;
  std::vector<StrategyPlan> strategies;  // all, in the order of strategies()
};

// Error kUsage: settings that contradict each other whatever the strategy, a sequence longer than
// the model's context, adapters in some blocks alone, no GPUs, less memory than is reserved.
base::Result<Plan> plan_job(const PlanRequest& request);

// The job of `request` under a strategy.
PlannedJob planned_job(const PlanRequest& request, job::Strategy strategy);

// The largest batch_per_rank of `job` whose peak is at most `usable_bytes`; 0: none.
std::int64_t largest_batch(const PlannedJob& job, std::int64_t usable_bytes);

}  // namespace shardlens::trace::predict
