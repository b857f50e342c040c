#include "trace/tuning/predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "trace/analysis/figures/run_summary.h"
#include "trace/base/median.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/schedule/shortened_schedule.h"
#include "trace/tuning/call_costs.h"
#include "trace/tuning/contention.h"
#include "trace/tuning/predictable.h"

namespace shardlens::trace::tuning {

using base::Result;
using job::Settings;
using predict::StepSchedule;
using predict::StepWork;

namespace {

// Of the change: where transfers of such sizes were not seen, or computation is scaled.
constexpr double kExtrapolated = 0.1;
// The same where a CPU computes again what it does not keep: how much faster forward becomes is
// another thing with each model.
constexpr double kRecomputedOnCpu = 0.3;
// Of the step, where another strategy does work of its own beside model and collectives: copies
// into flat buffers, views. Where there are more micro-batches, of each of them.
constexpr double kOwnWork = 0.03;
constexpr std::size_t kLeastSteps = 4;
// Actions that one prediction, which is made in a frame, goes through: it leaves steps out for
// that.
constexpr std::size_t kMostActions = 200'000, kLeastScheduled = 16;

std::int64_t total_ns(const StepWork& step) {
  return base::sum_of(step.ranks, [](const auto& rank) { return rank.end_ns - rank.start_ns; });
}

// Of fewer than kLeastSteps, and what to do.
std::string few_steps_text(const model::RunInfo& info, std::size_t steps) {
  const std::string count = std::to_string(steps);
  if (!model::has_settings(info)) {
    return "this run has " + count +
           ". Give torch.profiler.profile a schedule that keeps more steps active, and call its "
           "step() once per step.";
  }
  const bool comes_to_more = info.status == model::RunStatus::kRunning && steps < kLeastSteps &&
                             info.settings.record != "none";
  if (!comes_to_more) {
    return "this run has " + count + ". Record one with " +
           (info.settings.record == "every step" ? "more steps." : "record: every step.");
  }
  const std::size_t missing = kLeastSteps - steps;
  return "this run goes on and has " + (steps == 0 ? "none" : count) +
         " so far: " + std::to_string(missing) +
         (missing == 1 ? " more is needed." : " more are needed.");
}

// That it takes to schedule it.
std::size_t actions_of(const predict::StepProgram& program) {
  std::size_t count = program.update.size();
  for (const auto& micro_batch : program.micro_batches) count += micro_batch.actions.size();
  return predict::waits_for_cores(program) ? 2 * count : count;
}

bool is_unsure(const predict::PlannedCall& call) { return call.unsure_ns > 0; }

bool move_the_same(const predict::StepProgram& a, const predict::StepProgram& b) {
  return std::ranges::equal(a.calls, b.calls, [](const auto& call, const auto& other) {
    return call.function == other.function && call.group == other.group &&
           call.bytes == other.bytes;
  });
}

bool is_very_unsure(const predict::PlannedCall& call) {
  return static_cast<double>(call.unsure_ns) >
         kExtrapolated * static_cast<double>(call.transfer_ns);
}

bool has_bounds(const predict::StepProgram& program) {
  return std::ranges::any_of(program.calls, is_unsure);
}

// With transfers as short (sign −1) or as long (1) as they may be.
predict::StepProgram at_its_bound(predict::StepProgram program, int sign) {
  for (predict::PlannedCall& call : program.calls) {
    const std::int64_t ns = std::max<std::int64_t>(0, call.transfer_ns + sign * call.unsure_ns);
    if (call.transfer_ns > 0) {
      call.working_ns =
          std::llround(static_cast<double>(call.working_ns) * static_cast<double>(ns) /
                       static_cast<double>(call.transfer_ns));
    }
    call.transfer_ns = ns;
  }
  return program;
}

// On how many machines other GPUs would be, no run tells; a CPU's ranks share its cores.
bool keeps_link_of_other_ranks(const model::RunInfo& info, const Changes& changes) {
  const bool has_other_ranks = std::ranges::any_of(
      changes.known, [](const Change& change) { return change.knob->name == "ranks"; });
  if (info.device != "cuda" || !has_other_ranks) return false;
  const auto link = CallCosts::conditions(changes.settings).link;
  return !link || link->nodes == 0;
}

// By how much the difference may be less, and more, since something may be anywhere between two
// bounds.
struct Reach {
  double below = 0, above = 0;

  void add(double mean, const std::vector<double>& bound, const std::vector<double>& other) {
    const double a = base::mean_of(bound), b = base::mean_of(other);
    below += std::max(0.0, mean - std::min(a, b));
    above += std::max(0.0, std::max(a, b) - mean);
  }
};

}  // namespace

// By step: with other settings − with the recorded ones. What the model leaves out is left out of
// both.
struct Predictor::Differences {
  std::vector<double> shift_ns;  // of ranks' ends, in the mean
  std::vector<double> exposed_ns;
  std::vector<double> contended_ns;
  std::vector<double> least_contended_ns, most_contended_ns, shortest_ns, longest_ns;  // of ends

  void add(const Cases& before, const Cases& after) {
    const Times &a = after.likeliest, &b = before.likeliest;
    shift_ns.push_back(a.mean_ns - b.mean_ns);
    exposed_ns.push_back(a.exposed_ns - b.exposed_ns);
    contended_ns.push_back(a.contended_ns - b.contended_ns);
    const auto add_end = [&](std::vector<double>& to, Times Cases::*of) {
      to.push_back((after.*of).mean_ns - (before.*of).mean_ns);
    };
    add_end(least_contended_ns, &Cases::least_contended);
    add_end(most_contended_ns, &Cases::most_contended);
    add_end(shortest_ns, &Cases::shortest);
    add_end(longest_ns, &Cases::longest);
  }
};

Predictor::Predictor(const analysis::RunFigures& figures, StepPlanner planner,
                     analysis::MeanEstimate step_ns)
    : info_(figures.info), step_ns_(step_ns), ranks_(figures.ranks), planner_(std::move(planner)) {
  if (figures.summary.has_detail) exposed_ns_ = figures.summary.exposed_ns;
}

Result<Predictor> Predictor::create(const analysis::RunFigures& figures,
                                    const predict::RecordedSteps& recorded,
                                    const KnownCosts& known) {
  TRY(check_run(figures));
  if (model::has_settings(figures.info)) return create_known(figures, recorded, known);
  TRY_ASSIGN(ToldSettings told, told_settings(figures.info, recorded));
  analysis::RunFigures with_told = figures;
  with_told.info.settings = told.settings;
  TRY_ASSIGN(Predictor predictor, create_known(with_told, recorded, known));
  predictor.told_ = std::move(told);
  return predictor;
}

Result<Changes> Predictor::changes(const Settings& next, bool is_first_given) const {
  return told_ ? told_changes(info_, *told_, next, is_first_given) : changes_to(info_, next);
}

Result<Predictor> Predictor::create_known(const analysis::RunFigures& figures,
                                          const predict::RecordedSteps& recorded,
                                          const KnownCosts& known) {
  const auto step_ns = analysis::estimate_mean(analysis::measured_step_times(figures.steps));
  Predictor predictor(figures, StepPlanner(figures, recorded, known),
                      step_ns.value_or(analysis::MeanEstimate{}));
  predictor.is_link_untold_ = known.is_link_untold;
  auto steps = predictor.planner_.steps(recorded);
  const bool is_ours = model::has_settings(figures.info);
  if (steps.empty() && !is_ours) {
    return refuse(
        "No step of the run tells on all ranks when each gradient was ready, or each unit gathered "
        "and reduced, which a prediction needs. A trace of DDP or FSDP by PyTorch's "
        "profiler does, with a schedule and its step() called once per step.");
  }
  if (steps.size() < kLeastSteps || !step_ns) {
    const std::string why = "A prediction needs at least " + std::to_string(kLeastSteps) +
                            (is_ours ? " steps after skip_steps" : " measured steps") +
                            " with full detail and all of their records; " +
                            few_steps_text(figures.info, steps.size());
    const bool may_come = figures.info.status == model::RunStatus::kRunning;
    return may_come ? refuse_so_far(why) : refuse(why);
  }
  const Slowdown slowdown = predictor.planner_.slowdown(steps);
  predictor.slowdown_ = slowdown;
  TRY_ASSIGN(predictor.recorded_plan_, predictor.planner_.plan_recorded());
  const StepPlan& before = predictor.recorded_plan_;
  predictor.spread_ = predict::step_spread(steps);
  predictor.steps_ = std::move(steps);
  for (std::size_t i = 0; i < predictor.steps_.size(); ++i) {
    predictor.recorded_.push_back(predictor.cases(i, before.program, before.ranks));
  }
  return predictor;
}

auto Predictor::cases(std::size_t step, const predict::StepProgram& program,
                      std::size_t ranks) const -> Cases {
  const auto of_step = predict::ranks_of_step(steps_, spread_, step, ranks);
  const auto times_of = [&](const predict::StepProgram& each, double slowdown) {
    const StepSchedule schedule = schedule_step(of_step, each, slowdown);
    return Times{schedule.mean_ns, schedule.exposed_ns, schedule.contended_ns, schedule.end_ns};
  };
  const Times likeliest = times_of(program, slowdown_.mean);
  const auto contended = [&](double slowdown) {
    return slowdown == slowdown_.mean ? likeliest : times_of(program, slowdown);
  };
  const auto bounded = [&](int sign) {
    return has_bounds(program) ? times_of(at_its_bound(program, sign), slowdown_.mean) : likeliest;
  };
  return {likeliest, contended(slowdown_.low), contended(slowdown_.high), bounded(-1), bounded(1)};
}

std::size_t Predictor::stride(const StepPlan& plan) const {
  const std::size_t cases = has_bounds(plan.program) ? 5 : 3;
  const std::size_t actions = actions_of(plan.program) * cases * steps_.size() * plan.ranks;
  const std::size_t most = std::max<std::size_t>(1, steps_.size() / kLeastScheduled);
  return std::clamp<std::size_t>(actions / kMostActions, 1, most);
}

Result<Prediction> Predictor::predict(const Settings& next) const {
  if (told_) {
    return refuse(
        "The run was recorded from another program, which does not tell all settings that such a "
        "prediction depends on. Name a run that Shardlens trained.");
  }
  TRY_ASSIGN(const Changes changes, changes_to(info_, next));
  TRY(refuse_unknown(changes.unknown));
  return predict_known(next);
}

auto Predictor::planned(const Settings& next, bool is_first_given) const -> Result<Planned> {
  TRY_ASSIGN(Changes changes, this->changes(next, is_first_given));
  TRY_ASSIGN(StepPlan plan, planner_.plan(changes.settings));
  return Planned{std::move(changes), std::move(plan)};
}

Result<Prediction> Predictor::predict_known(const Settings& next) const {
  TRY_ASSIGN(const Planned planned, this->planned(next));
  return predict_planned(next, planned);
}

auto Predictor::predict_with_step(const Settings& next, std::int64_t index,
                                  bool is_first_given) const -> Result<Forecast> {
  TRY_ASSIGN(Planned planned, this->planned(next, is_first_given));
  TRY_ASSIGN(Prediction prediction, predict_planned(next, planned));
  return Forecast{std::move(prediction), step_of(std::move(planned.plan), index)};
}

Result<Prediction> Predictor::predict_planned(const Settings& next, const Planned& planned) const {
  const auto& [changes, after] = planned;
  Prediction prediction;
  prediction.changes = changes.known;
  prediction.without_effect = changes.without_effect;
  prediction.left_out = changes.unknown;
  Differences differences;
  const std::size_t every = stride(after);
  for (std::size_t i = 0; i < steps_.size(); i += every) {
    differences.add(recorded_[i], cases(i, after.program, after.ranks));
  }
  prediction.steps = static_cast<std::int64_t>(differences.exposed_ns.size());
  static_cast<PlanTraits&>(prediction) = after;
  prediction.has_units = job::strategy_traits(changes.settings.sharding_strategy).has_units;
  prediction.moves_the_same = move_the_same(after.program, recorded_plan_.program);
  prediction.samples = planner_.samples(changes.settings);
  prediction.tokens = planner_.tokens(changes.settings);
  prediction.is_of_another_program = told_.has_value();
  if (told_) prediction.told_caps = told_->caps;
  prediction.recorded_step_ns = step_ns_.mean;
  prediction.recorded_steps = step_ns_.count;
  prediction.step_ns = step_ns_.mean + base::mean_of(differences.shift_ns);
  if (prediction.step_ns <= 0) {
    return refuse(
        "The steps that this would be predicted from, the first after skip_steps, took so much "
        "longer than the run's mean step that it would save more of them than that takes. Name a "
        "run whose steps take about as long.");
  }
  prediction.is_link_untold = is_link_untold_;
  prediction.has_other_costs = planner_.has_other_costs();
  prediction.keeps_link_of_other_ranks = keeps_link_of_other_ranks(info_, changes);
  prediction.is_of_failed_run = info_.status == model::RunStatus::kFailed;
  prediction.is_on_gpus = info_.device == "cuda";
  prediction.shares_gpu = info_.shared_gpu;
  prediction.depends_on_contention = base::mean_of(differences.contended_ns) != 0;
  prediction.contention_range = slowdown_.range();
  add_intervals(after, differences, prediction);
  // What may lie anywhere between bounds that are far apart is told with them, or not at all.
  const auto unsure = std::ranges::find_if(after.program.calls, is_very_unsure);
  if (unsure != after.program.calls.end() && !prediction.interval) {
    return refuse(planner_.no_such_size(*unsure));
  }
  prediction.recorded_exposed_ns = exposed_ns_;
  if (exposed_ns_) {
    // One rank moves nothing, not even what the schedule leaves out.
    prediction.exposed_ns = after.ranks > 1
                                ? std::clamp(*exposed_ns_ + base::mean_of(differences.exposed_ns),
                                             0.0, prediction.step_ns)
                                : 0.0;
  }
  add_memory(next, prediction);
  return prediction;
}

void Predictor::add_intervals(const StepPlan& plan, const Differences& differences,
                              Prediction& prediction) const {
  const auto around = [](double mean, double half) { return Interval{mean - half, mean + half}; };
  if (prediction.is_as_recorded()) {
    if (step_ns_.has_error()) prediction.interval = around(step_ns_.mean, step_ns_.half_width());
    return;
  }
  const auto shift = analysis::estimate_mean(differences.shift_ns);
  if (!shift) return;
  const bool is_far = plan.is_extrapolated || plan.scales_computation;
  const double far = plan.recomputes_on_cpu ? kRecomputedOnCpu : is_far ? kExtrapolated : 0;
  const double own_work =
      plan.is_another_strategy ? kOwnWork * std::max(1.0, plan.micro_batches) : 0;
  const double model = std::hypot(far * std::abs(shift->mean), own_work * step_ns_.mean,
                                  plan.unsure_work * step_ns_.mean);
  Reach reach;
  reach.add(shift->mean, differences.least_contended_ns, differences.most_contended_ns);
  reach.add(shift->mean, differences.shortest_ns, differences.longest_ns);
  // Of a schedule that stays as it is nothing depends on what its transfers take.
  const bool is_moved =
      std::ranges::any_of(differences.shift_ns, [](double shift_ns) { return shift_ns != 0; });
  const double spread_ns = is_moved ? plan.spread_ns : 0;
  const auto difference = [&](double half) {
    return Interval{shift->mean - half - reach.below, shift->mean + half + reach.above};
  };
  prediction.narrowest_difference = difference(std::hypot(spread_ns, model));
  if (!shift->has_error()) return;
  // These are as likely as noise; contention and transfers may be anywhere in their ranges.
  const double unsure = std::hypot(shift->half_width(), spread_ns, model);
  prediction.difference = difference(unsure);
  if (step_ns_.has_error()) {
    const double half = std::hypot(step_ns_.half_width(), unsure);
    prediction.interval =
        Interval{prediction.step_ns - half - reach.below, prediction.step_ns + half + reach.above};
  }
}

std::size_t Predictor::step_like(std::int64_t index) const {
  const auto found = std::ranges::find(steps_, index, &StepWork::index);
  if (found != steps_.end()) return static_cast<std::size_t>(found - steps_.begin());
  std::vector<std::size_t> by_time(steps_.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  const auto middle = by_time.begin() + static_cast<std::ptrdiff_t>(by_time.size() / 2);
  std::ranges::nth_element(by_time, middle, {},
                           [&](std::size_t step) { return total_ns(steps_[step]); });
  return *middle;
}

Result<PredictedStep> Predictor::predict_step(const Settings& next, std::int64_t index) const {
  TRY_ASSIGN(Planned planned, this->planned(next));
  return step_of(std::move(planned.plan), index);
}

PredictedStep Predictor::step_of(StepPlan plan, std::int64_t index) const {
  predict::StepProgram& program = plan.program;
  const std::size_t place = step_like(index);
  const StepWork& step = steps_[place];
  PredictedStep predicted;
  predicted.index = step.index;
  const auto schedule = [&](const predict::StepProgram& each, std::size_t ranks) {
    return schedule_step(predict::ranks_of_step(steps_, spread_, place, ranks), each,
                         slowdown_.mean);
  };
  predicted.schedule = schedule(program, plan.ranks);
  predicted.program = std::move(program);
  predicted.start_ns = INT64_MAX;
  for (const auto& rank : step.ranks) {
    predicted.start_ns = std::min(predicted.start_ns, rank.start_ns);
    predicted.recorded_end_ns = std::max(predicted.recorded_end_ns, rank.end_ns);
  }
  // What a step has beyond its schedule stays as recorded. Where it was over sooner, because its
  // own transfers took less than others of their size, so is what it would be, in proportion, but
  // for what no transfer can take less than on its link.
  const std::int64_t rest_ns = predicted.recorded_end_ns - recorded_[place].likeliest.end_ns;
  if (rest_ns < 0) {
    const predict::StepProgram& before = recorded_plan_.program;
    const auto by = predict::shortening_to(before, schedule(before, recorded_plan_.ranks),
                                           predicted.start_ns, predicted.recorded_end_ns);
    predict::shorten(predicted.program, predicted.start_ns, by, predicted.schedule);
  }
  predicted.end_ns = predicted.schedule.end_ns + std::max<std::int64_t>(rest_ns, 0);
  return predicted;
}

void Predictor::add_memory(const Settings& next, Prediction& prediction) const {
  const auto more = planner_.more_bytes(next);
  if (!more) return;
  for (const auto& rank : ranks_) {
    const std::int64_t measured = rank.peak.allocated_bytes();
    if (measured <= 0 || measured + *more <= 0) continue;
    const auto index = static_cast<int>(&rank - ranks_.data());
    prediction.peaks.push_back({index, measured, measured + *more});
  }
}

}  // namespace shardlens::trace::tuning
