#include "trace/tuning/step_planner.h"

#include <algorithm>
#include <cmath>

#include "trace/analysis/figures/memory_figures.h"
#include "trace/job/shape/lora.h"
#include "trace/model/acting_settings.h"
#include "trace/predict/memory/memory_model.h"
#include "trace/predict/schedule/bucket_plan.h"
#include "trace/timeline/words/quantity.h"
#include "trace/tuning/predictable.h"

namespace shardlens::trace::tuning {

using base::ErrorKind;
using base::Result;
using job::Settings;

namespace {

predict::BucketCaps caps_of(const Settings& s) {
  constexpr double kBytesPerMib = 1024.0 * 1024.0;
  const auto bytes = [](double mib) { return static_cast<std::int64_t>(mib * kBytesPerMib); };
  return {bytes(model::first_bucket_mb(s.first_bucket_mb, s.bucket_cap_mb)),
          bytes(s.bucket_cap_mb)};
}

// What is computed again, in parts of forward: of the blocks' operations, those of every n-th.
double recomputed_share(const predict::PlannedJob& job, const Settings& settings) {
  const std::int64_t every = settings.activation_checkpointing, blocks = job.shape.layers;
  if (every == 0 || blocks == 0) return 0;
  job::ModelShape no_block = job.shape;
  no_block.layers = 0;
  const auto all = static_cast<double>(job::flops_per_token(job.shape, job.sequence()));
  const auto rest = static_cast<double>(job::flops_per_token(no_block, job.sequence()));
  const auto recomputed = static_cast<double>((blocks + every - 1) / every);
  return (all - rest) / all * recomputed / static_cast<double>(blocks);
}

}  // namespace

StepPlanner::StepPlanner(const analysis::RunFigures& figures,
                         const predict::RecordedSteps& recorded)
    : recorded_(figures.info.settings),
      gradient_bytes_(recorded.gradient_bytes()),
      costs_(recorded_, figures.info.world_size, recorded.costs()) {
  if (!figures.ranks.empty()) job_ = analysis::planned_job(figures.ranks.front(), figures.info);
  if (job_) recorded_bytes_ = predict::predict_peak_bytes(*job_);
}

std::optional<double> StepPlanner::more_forwards(const Settings& settings) const {
  if (settings.activation_checkpointing == recorded_.activation_checkpointing) return 0;
  if (!job_) return std::nullopt;
  return recomputed_share(*job_, settings) - recomputed_share(*job_, recorded_);
}

Result<StepPlan> StepPlanner::plan(const Settings& settings) const {
  StepPlan plan;
  const auto more = more_forwards(settings);
  if (!more) {
    return base::fail(ErrorKind::kUsage,
                      "What activation_checkpointing computes again is not known, because the "
                      "run's model is not known to this version.");
  }
  plan.ddp.overlaps = settings.overlap_comm;
  plan.ddp.micro_batches = static_cast<std::size_t>(settings.gradient_accumulation_steps);
  plan.ddp.reduces_each = settings.sync_each_batch;
  plan.ddp.work =
      static_cast<double>(settings.batch_per_rank) / static_cast<double>(recorded_.batch_per_rank);
  plan.ddp.more_forwards = *more;
  plan.scales_computation =
      *more != 0 || samples(settings) != 1 ||
      settings.gradient_accumulation_steps != recorded_.gradient_accumulation_steps;
  TRY(add_buckets(settings, plan));
  return plan;
}

Result<void> StepPlanner::add_buckets(const Settings& settings, StepPlan& plan) const {
  for (const auto& gradients : predict::plan_buckets(gradient_bytes_, caps_of(settings))) {
    predict::PlannedBucket bucket{.tensors = gradients.size(), .last_gradient = gradients.back()};
    for (const std::size_t gradient : gradients) bucket.bytes += gradient_bytes_[gradient];
    const auto cost = costs_.of(settings, static_cast<double>(bucket.bytes));
    if (!cost) {
      return base::fail(ErrorKind::kUsage,
                        "The run moved no sizes near " +
                            timeline::format_bytes(static_cast<double>(bucket.bytes)).text() +
                            ", so what that takes is not known. Name a run with other buckets.");
    }
    bucket.transfer_ns = std::llround(cost->transfer.ns);
    bucket.working_ns = std::llround(cost->working_ns);
    plan.spread_ns = std::max(plan.spread_ns, cost->transfer.spread_ns);
    plan.is_extrapolated = plan.is_extrapolated || cost->transfer.is_extrapolated;
    plan.ddp.buckets.push_back(bucket);
  }
  return {};
}

double StepPlanner::samples(const Settings& settings) const {
  return samples_of_a_rank(settings) / samples_of_a_rank(recorded_);
}

std::optional<std::int64_t> StepPlanner::more_bytes(const Settings& settings) const {
  if (!job_) return std::nullopt;
  predict::PlannedJob next = *job_;
  next.settings = settings;
  return predict::predict_peak_bytes(next) - recorded_bytes_;
}

}  // namespace shardlens::trace::tuning
