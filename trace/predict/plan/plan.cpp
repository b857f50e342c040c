#include "trace/predict/plan/plan.h"

#include <algorithm>

#include "trace/base/text.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::predict {

namespace {

constexpr std::int64_t kLargestBatch = 65536;  // of batch_per_rank
constexpr std::int64_t kMostPlannedRanks = 1'000'000;

job::Settings settings_under(const PlanRequest& request, job::Strategy strategy) {
  job::Settings settings = request.settings;
  settings.sharding_strategy = strategy;
  settings.ranks = request.ranks();
  settings.device = job::DeviceChoice::kCuda;
  // Not of a plan; a fault may name a rank that is not there.
  settings.inject = "off";
  settings.simulate_link = "off";
  return settings;
}

std::string problems_under(const PlanRequest& request, job::Strategy strategy) {
  return base::joined(job::problems_of(settings_under(request, strategy)), " ",
                      &job::SettingProblem::message);
}

base::Result<void> check_request(const PlanRequest& request) {
  if (request.gpus_per_node < 1 || request.nodes < 1 ||
      request.gpus_per_node > kMostPlannedRanks / request.nodes) {
    return base::fail(base::ErrorKind::kUsage,
                      "A plan needs at least one GPU on at least one node, and at "
                      "most a million in all.");
  }
  if (request.usable_bytes() <= 0) {
    return base::fail(base::ErrorKind::kUsage,
                      "The GPU has no more memory than what CUDA and NCCL need themselves (" +
                          std::to_string(request.reserved_bytes >> 20) +
                          " MiB). Plan for a larger one.");
  }
  if (!job::are_blocks_adapted_alike(request.shape, request.settings)) {
    return base::fail(base::ErrorKind::kUsage,
                      "lora_target_modules: \"" + request.settings.lora_target_modules +
                          "\" is of some blocks alone, and a plan takes all blocks to be alike. "
                          "Name layers that all of them have.");
  }
  return job::check_sequence(request.shape, request.settings.sequence_length);
}

StrategyPlan plan_strategy(const PlanRequest& request, job::Strategy strategy) {
  StrategyPlan plan;
  plan.strategy = strategy;
  plan.refused = problems_under(request, strategy);
  if (!plan.refused.empty()) return plan;
  const PlannedJob job = planned_job(request, strategy);
  plan.memory = predict_memory(job);
  plan.traffic = predict_traffic(job);
  plan.spare_bytes = request.usable_bytes() - plan.memory.total();
  plan.largest_batch = largest_batch(job, request.usable_bytes());
  return plan;
}

}  // namespace

PlannedJob planned_job(const PlanRequest& request, job::Strategy strategy) {
  return {.settings = settings_under(request, strategy),
          .shape = request.shape,
          .ranks = request.ranks(),
          .ranks_per_node = request.gpus_per_node,
          .on_gpu = true,
          .workspace_bytes = request.workspace_bytes};
}

std::int64_t largest_batch(const PlannedJob& job, std::int64_t usable_bytes) {
  const auto fits = [&](std::int64_t batch) {
    PlannedJob other = job;
    other.settings.batch_per_rank = batch;
    return predict_peak_bytes(other) <= usable_bytes;
  };
  if (!fits(1)) return 0;
  std::int64_t fitting = 1, failing = 2;
  while (failing <= kLargestBatch && fits(failing)) {
    fitting = failing;
    failing *= 2;
  }
  if (failing > kLargestBatch) return fitting;
  while (failing - fitting > 1) {
    const std::int64_t middle = (fitting + failing) / 2;
    (fits(middle) ? fitting : failing) = middle;
  }
  return fitting;
}

base::Result<Plan> plan_job(const PlanRequest& request) {
  TRY(check_request(request));
  Plan plan;
  plan.request = request;
  plan.parameters = job::parameter_count(request.shape);
  for (const job::StrategyTraits& traits : job::strategies()) {
    plan.strategies.push_back(plan_strategy(request, traits.strategy));
  }
  if (std::ranges::all_of(plan.strategies,
                          [](const auto& each) { return !each.refused.empty(); })) {
    return base::fail(base::ErrorKind::kUsage, plan.strategies.front().refused);
  }
  return plan;
}

}  // namespace shardlens::trace::predict
