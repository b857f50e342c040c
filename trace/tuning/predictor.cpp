#include "trace/tuning/predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/noise/student_t.h"
#include "trace/model/acting_settings.h"
#include "trace/predict/schedule/bucket_plan.h"
#include "trace/timeline/words/quantity.h"
#include "trace/tuning/predictable.h"

namespace shardlens::trace::tuning {

using base::ErrorKind;
using base::Result;
using job::Settings;
using predict::RecordedStep;

namespace {

constexpr double kMiss = 0.05;  // of a 95 % interval
// Of each nanosecond of a reduction's work under computation, how much longer that takes: nothing
// where cores are idle, all of it where ranks need them. One run does not tell which.
constexpr double kContention = 0.5, kContentionRange = 0.5;
constexpr double kExtrapolated = 0.1;  // of the change, where transfers of such sizes were not seen
constexpr std::size_t kLeastSteps = 4;

predict::BucketCaps caps_of(const Settings& s) {
  constexpr double kBytesPerMib = 1024.0 * 1024.0;
  const auto bytes = [](double mib) { return static_cast<std::int64_t>(mib * kBytesPerMib); };
  return {bytes(model::first_bucket_mb(s.first_bucket_mb, s.bucket_cap_mb)),
          bytes(s.bucket_cap_mb)};
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::int64_t total_ns(const RecordedStep& step) {
  std::int64_t sum = 0;
  for (const auto& rank : step.ranks) sum += rank.end_ns - rank.start_ns;
  return sum;
}

// From the first gradient to the last, on the rank that has it last.
double backward_ns(const RecordedStep& step) {
  const auto& last = std::ranges::max(
      step.ranks, {}, [](const auto& rank) { return rank.gradient_ready_ns.back(); });
  return static_cast<double>(last.gradient_ready_ns.back() - last.gradient_ready_ns.front());
}

double half_interval(const analysis::MeanEstimate& estimate) {
  return analysis::student_t_quantile(kMiss, estimate.degrees_of_freedom) * estimate.standard_error;
}

Interval around(double mean, double half) { return {mean - half, mean + half}; }

std::optional<std::int64_t> estimated_bytes(const analysis::RankFigures& rank,
                                            const model::RunInfo& info) {
  const auto estimate = analysis::estimate_memory(rank, info);
  const std::int64_t sum =
      std::accumulate(estimate.at_peak.begin(), estimate.at_peak.end(), std::int64_t{0});
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

}  // namespace

// One step with the recorded settings and with others. What the model leaves out is left out of
// both.
struct Predictor::Comparison {
  predict::DdpSchedule after;
  double contended_ns = 0;    // by how much more of computation communication works
  std::int64_t shift_ns = 0;  // of the step's end
  std::int64_t tail_ns = 0;   // by which reductions after the last gradient last longer
};

Predictor::Predictor(const analysis::RunFigures& figures, const predict::RecordedSteps& recorded,
                     analysis::MeanEstimate step_ns)
    : info_(figures.info),
      step_ns_(step_ns),
      ranks_(figures.ranks),
      gradient_bytes_(recorded.gradient_bytes()),
      costs_(info_.settings, info_.world_size, recorded.costs()) {
  if (figures.summary.has_detail) exposed_ns_ = figures.summary.exposed_ns;
}

Result<Predictor> Predictor::create(const analysis::RunFigures& figures,
                                    const predict::RecordedSteps& recorded) {
  TRY(check_run(figures));
  auto steps = recorded.steps();
  const auto step_ns = analysis::estimate_mean(analysis::measured_step_times(figures.steps));
  if (steps.size() < kLeastSteps || !step_ns) {
    return base::fail(ErrorKind::kUsage,
                      "A prediction needs at least " + std::to_string(kLeastSteps) +
                          " steps after skip_steps with full detail and all of their records; "
                          "this run has " +
                          std::to_string(steps.size()) + ". Record one with record: every step.");
  }
  Predictor predictor(figures, recorded, *step_ns);
  TRY_ASSIGN(const Plan before, predictor.plan(predictor.info_.settings));
  for (RecordedStep& step : steps) {
    auto schedule = schedule_ddp(step, before.ddp);
    predictor.steps_.push_back({std::move(step), std::move(schedule)});
  }
  return predictor;
}

Result<Predictor::Plan> Predictor::plan(const Settings& settings) const {
  Plan plan;
  plan.ddp.overlaps = settings.overlap_comm;
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
  return plan;
}

auto Predictor::compare(const Step& step, Plan after) -> Comparison {
  const predict::DdpSchedule& before = step.schedule;
  Comparison compared{.after = schedule_ddp(step.recorded, after.ddp)};
  compared.contended_ns = static_cast<double>(compared.after.contended_ns - before.contended_ns);
  const double computed = backward_ns(step.recorded);
  if (compared.contended_ns != 0 && computed > 0) {
    after.ddp.slowdown = std::max(0.0, 1 + kContention * compared.contended_ns / computed);
    compared.after = schedule_ddp(step.recorded, after.ddp);
  }
  compared.shift_ns = compared.after.backward_end_ns - before.backward_end_ns;
  compared.tail_ns = compared.after.tail_ns() - before.tail_ns();
  return compared;
}

Result<Prediction> Predictor::predict(const Settings& next) const {
  Prediction prediction;
  TRY_ASSIGN(prediction.changes, changes_to(info_, next));
  TRY_ASSIGN(const Plan after, plan(next));
  std::vector<double> shifts, contended, tails;
  for (const Step& step : steps_) {
    const Comparison compared = compare(step, after);
    shifts.push_back(static_cast<double>(compared.shift_ns));
    tails.push_back(static_cast<double>(compared.tail_ns));
    contended.push_back(compared.contended_ns);
  }
  const double shift_ns = mean_of(shifts);
  prediction.steps = static_cast<std::int64_t>(steps_.size());
  prediction.buckets = after.ddp.buckets.size();
  prediction.recorded_step_ns = step_ns_.mean;
  prediction.step_ns = step_ns_.mean + shift_ns;
  prediction.is_extrapolated = after.is_extrapolated;
  prediction.assumes_contention = mean_of(contended) != 0;
  if (prediction.changes.empty()) {
    if (step_ns_.has_error()) prediction.interval = around(step_ns_.mean, half_interval(step_ns_));
  } else if (const auto shift = analysis::estimate_mean(shifts); shift && shift->has_error()) {
    // The former are as likely as noise, the latter may lie anywhere.
    const double unsure =
        std::hypot(half_interval(*shift), after.spread_ns,
                   after.is_extrapolated ? kExtrapolated * std::abs(shift_ns) : 0);
    const double either_way = kContentionRange * std::abs(mean_of(contended));
    prediction.difference = around(shift_ns, unsure + either_way);
    if (step_ns_.has_error()) {
      const double half = std::hypot(half_interval(step_ns_), unsure) + either_way;
      prediction.interval = around(prediction.step_ns, half);
    }
  }
  prediction.recorded_exposed_ns = exposed_ns_;
  if (exposed_ns_) prediction.exposed_ns = std::max(0.0, *exposed_ns_ + mean_of(tails));
  add_memory(next, prediction);
  return prediction;
}

auto Predictor::step_like(std::int64_t index) const -> const Step& {
  const auto found =
      std::ranges::find(steps_, index, [](const Step& step) { return step.recorded.index; });
  if (found != steps_.end()) return *found;
  std::vector<const Step*> by_time;
  for (const Step& step : steps_) by_time.push_back(&step);
  const auto middle = by_time.begin() + static_cast<std::ptrdiff_t>(by_time.size() / 2);
  std::ranges::nth_element(by_time, middle, {},
                           [](const Step* step) { return total_ns(step->recorded); });
  return **middle;
}

Result<PredictedStep> Predictor::predict_step(const Settings& next, std::int64_t index) const {
  TRY(changes_to(info_, next));
  TRY_ASSIGN(const Plan after, plan(next));
  const Step& step = step_like(index);
  const Comparison compared = compare(step, after);
  PredictedStep predicted;
  predicted.index = step.recorded.index;
  predicted.recorded = step.schedule;
  predicted.schedule = compared.after;
  predicted.start_ns = INT64_MAX;
  for (const auto& rank : step.recorded.ranks) {
    predicted.start_ns = std::min(predicted.start_ns, rank.start_ns);
    predicted.recorded_end_ns = std::max(predicted.recorded_end_ns, rank.end_ns);
  }
  predicted.end_ns = predicted.recorded_end_ns + compared.shift_ns;
  return predicted;
}

void Predictor::add_memory(const Settings& next, Prediction& prediction) const {
  model::RunInfo changed = info_;
  changed.settings = next;
  for (const auto& rank : ranks_) {
    const auto before = estimated_bytes(rank, info_), after = estimated_bytes(rank, changed);
    const std::int64_t measured = rank.peak.allocated_bytes();
    if (!before || !after || measured <= 0) continue;
    const auto index = static_cast<int>(&rank - ranks_.data());
    prediction.peaks.push_back({index, measured, measured + *after - *before});
  }
}

}  // namespace shardlens::trace::tuning
