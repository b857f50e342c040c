#include "trace/tuning/predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/noise/student_t.h"
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
// Of the change: where transfers of such sizes were not seen, or computation is scaled.
constexpr double kExtrapolated = 0.1;
constexpr std::size_t kLeastSteps = 4;
// Reductions that one prediction, which is made in a frame, schedules: it leaves steps out for
// that.
constexpr std::size_t kMostReductions = 100'000, kLeastScheduled = 16;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::int64_t total_ns(const RecordedStep& step) {
  std::int64_t sum = 0;
  for (const auto& rank : step.ranks) sum += rank.end_ns - rank.start_ns;
  return sum;
}

double half_interval(const analysis::MeanEstimate& estimate) {
  return analysis::student_t_quantile(kMiss, estimate.degrees_of_freedom) * estimate.standard_error;
}

Interval around(double mean, double half) { return {mean - half, mean + half}; }

}  // namespace

// One step with the recorded settings and with others. What the model leaves out is left out of
// both.
struct Predictor::Comparison {
  predict::DdpSchedule after;
  double contended_ns = 0;  // by how much more of computation communication works
  double shift_ns = 0;      // of the step's end
  double exposed_ns = 0;    // by which reductions outlast computation longer
};

struct Predictor::Differences {  // as in a comparison, by step
  std::vector<double> shift_ns, exposed_ns, contended_ns;
};

Predictor::Predictor(const analysis::RunFigures& figures, const predict::RecordedSteps& recorded,
                     analysis::MeanEstimate step_ns)
    : info_(figures.info), step_ns_(step_ns), ranks_(figures.ranks), planner_(figures, recorded) {
  if (figures.summary.has_detail) exposed_ns_ = figures.summary.exposed_ns;
}

Result<Predictor> Predictor::create(const analysis::RunFigures& figures,
                                    const predict::RecordedSteps& recorded) {
  TRY(check_run(figures));
  auto steps = recorded.steps();
  const auto micro_batches =
      static_cast<std::size_t>(figures.info.settings.gradient_accumulation_steps);
  std::erase_if(steps, [&](const RecordedStep& step) {
    return step.ranks.front().micro_batches.size() != micro_batches;
  });
  const auto step_ns = analysis::estimate_mean(analysis::measured_step_times(figures.steps));
  if (steps.size() < kLeastSteps || !step_ns) {
    return base::fail(ErrorKind::kUsage,
                      "A prediction needs at least " + std::to_string(kLeastSteps) +
                          " steps after skip_steps with full detail and all of their records; "
                          "this run has " +
                          std::to_string(steps.size()) + ". Record one with record: every step.");
  }
  Predictor predictor(figures, recorded, *step_ns);
  TRY_ASSIGN(const StepPlan before, predictor.planner_.plan(predictor.info_.settings));
  for (RecordedStep& step : steps) {
    auto schedule = schedule_ddp(step, before.ddp);
    predictor.steps_.push_back({std::move(step), std::move(schedule)});
  }
  return predictor;
}

auto Predictor::compare(const Step& step, const predict::DdpPlan& after) -> Comparison {
  const predict::DdpSchedule& before = step.schedule;
  Comparison compared{.after = schedule_ddp(step.recorded, after)};
  std::vector<double> slowdowns;
  for (const predict::MicroBatchTime& time : compared.after.micro_batches) {
    const auto more =
        static_cast<double>(time.contended_ns - before.micro_batches[time.like].contended_ns);
    const double computed =
        after.work * static_cast<double>(predict::backward_ns(step.recorded, time.like));
    slowdowns.push_back(computed > 0 ? std::max(0.0, 1 + kContention * more / computed) : 1);
    compared.contended_ns += more;
  }
  if (std::ranges::any_of(slowdowns, [](double slowdown) { return slowdown != 1; })) {
    compared.after = schedule_ddp(step.recorded, after, slowdowns);
  }
  compared.shift_ns = static_cast<double>(compared.after.backward_end_ns - before.backward_end_ns);
  compared.exposed_ns = static_cast<double>(compared.after.exposed_ns - before.exposed_ns);
  return compared;
}

std::size_t Predictor::stride(const predict::DdpPlan& plan) const {
  const std::size_t reduced = plan.reduces_each ? plan.micro_batches : 1;
  const std::size_t reductions =
      (plan.buckets.size() * reduced + plan.micro_batches) * steps_.size();
  const std::size_t most = std::max<std::size_t>(1, steps_.size() / kLeastScheduled);
  return std::clamp<std::size_t>(reductions / kMostReductions, 1, most);
}

Result<Prediction> Predictor::predict(const Settings& next) const {
  Prediction prediction;
  TRY_ASSIGN(prediction.changes, changes_to(info_, next));
  TRY_ASSIGN(const StepPlan after, planner_.plan(next));
  Differences differences;
  const std::size_t every = stride(after.ddp);
  for (std::size_t i = 0; i < steps_.size(); i += every) {
    const Comparison compared = compare(steps_[i], after.ddp);
    differences.shift_ns.push_back(compared.shift_ns);
    differences.exposed_ns.push_back(compared.exposed_ns);
    differences.contended_ns.push_back(compared.contended_ns);
  }
  prediction.steps = static_cast<std::int64_t>(differences.shift_ns.size());
  prediction.buckets = after.ddp.buckets.size();
  prediction.samples = planner_.samples(next);
  prediction.recorded_step_ns = step_ns_.mean;
  prediction.step_ns = step_ns_.mean + mean_of(differences.shift_ns);
  prediction.is_extrapolated = after.is_extrapolated;
  prediction.scales_computation = after.scales_computation;
  prediction.assumes_contention = mean_of(differences.contended_ns) != 0;
  add_intervals(after, differences, prediction);
  prediction.recorded_exposed_ns = exposed_ns_;
  if (exposed_ns_) {
    prediction.exposed_ns = std::max(0.0, *exposed_ns_ + mean_of(differences.exposed_ns));
  }
  add_memory(next, prediction);
  return prediction;
}

void Predictor::add_intervals(const StepPlan& plan, const Differences& differences,
                              Prediction& prediction) const {
  if (prediction.changes.empty()) {
    if (step_ns_.has_error()) prediction.interval = around(step_ns_.mean, half_interval(step_ns_));
    return;
  }
  const auto shift = analysis::estimate_mean(differences.shift_ns);
  if (!shift || !shift->has_error()) return;
  // The former are as likely as noise, contention may lie anywhere.
  const bool is_unsure = plan.is_extrapolated || plan.scales_computation;
  const double unsure = std::hypot(half_interval(*shift), plan.spread_ns,
                                   is_unsure ? kExtrapolated * std::abs(shift->mean) : 0);
  const double either_way = kContentionRange * std::abs(mean_of(differences.contended_ns));
  prediction.difference = around(shift->mean, unsure + either_way);
  if (step_ns_.has_error()) {
    const double half = std::hypot(half_interval(step_ns_), unsure) + either_way;
    prediction.interval = around(prediction.step_ns, half);
  }
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
  TRY_ASSIGN(const StepPlan after, planner_.plan(next));
  const Step& step = step_like(index);
  const Comparison compared = compare(step, after.ddp);
  PredictedStep predicted;
  predicted.index = step.recorded.index;
  predicted.recorded = step.schedule;
  predicted.schedule = compared.after;
  predicted.start_ns = INT64_MAX;
  for (const auto& rank : step.recorded.ranks) {
    predicted.start_ns = std::min(predicted.start_ns, rank.start_ns);
    predicted.recorded_end_ns = std::max(predicted.recorded_end_ns, rank.end_ns);
  }
  predicted.end_ns = predicted.recorded_end_ns + std::llround(compared.shift_ns);
  return predicted;
}

void Predictor::add_memory(const Settings& next, Prediction& prediction) const {
  const auto more = planner_.more_bytes(next);
  if (!more) return;
  for (const auto& rank : ranks_) {
    const std::int64_t measured = rank.peak.allocated_bytes();
    if (measured <= 0) continue;
    const auto index = static_cast<int>(&rank - ranks_.data());
    prediction.peaks.push_back({index, measured, measured + *more});
  }
}

}  // namespace shardlens::trace::tuning
