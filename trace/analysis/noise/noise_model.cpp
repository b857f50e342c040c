#include "trace/analysis/noise/noise_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "trace/analysis/noise/student_t.h"
#include "trace/base/median.h"
#include "trace/base/number_text.h"
#include "trace/model/packed.h"

namespace shardlens::trace::analysis {

namespace {

constexpr double kDriftQuantile = 1.645;  // of N(0, 1), one-sided 5 %
constexpr std::int64_t kFewestSteps = 4;  // of a run that tells what its settings come to
constexpr double kFewIsTold = 3;          // degrees of freedom below which t is wide

struct Spread {  // of a difference
  double variance = 0;
  double freedom = 0;
};

Judgement judgement_of(double difference, const Spread& spread) {
  if (spread.variance <= 0) return {.p = difference == 0 ? 1.0 : 0.0};
  const double error = std::sqrt(spread.variance);
  return {.p = student_t_p(difference / error, spread.freedom),
          .standard_error = error,
          .degrees_of_freedom = spread.freedom};
}

// Welch 1947, degrees of freedom after Satterthwaite 1946.
Spread sum_of(const std::vector<Spread>& parts) {
  Spread sum;
  double uncertainty = 0;
  for (const Spread& part : parts) {
    sum.variance += part.variance;
    if (part.variance > 0) uncertainty += part.variance * part.variance / part.freedom;
  }
  sum.freedom = uncertainty > 0 ? sum.variance * sum.variance / uncertainty : 1;
  return sum;
}

// The estimate of the mean of values that are `factor` times as large.
MeanEstimate scaled(MeanEstimate estimate, double factor) {
  estimate.mean *= factor;
  estimate.standard_error *= factor;
  return estimate;
}

Spread within(const MeanEstimate& estimate) {
  return {estimate.standard_error * estimate.standard_error, estimate.degrees_of_freedom};
}

// A run and its copy, or what `pack` made of it, tell nothing of what lies between two starts.
bool is_same_recording(const NoiseRun& a, const NoiseRun& b) {
  const auto &x = a.noise->step(), &y = b.noise->step();
  return x && y && x->count == y->count && x->mean == y->mean &&
         a.job.info->start_ns == b.job.info->start_ns &&
         a.job.info->world_size == b.job.info->world_size;
}

std::string percent_text(double relative) {
  return base::formatted(relative < 0.1 ? "%.1f %%" : "%.0f %%", relative * 100);
}

}  // namespace

double Judgement::half_width(double claims) const {
  return student_t_quantile(claims, degrees_of_freedom) * standard_error;
}

NoiseModel::NoiseModel(const NoiseRun& about, const std::vector<NoiseRun>& library) {
  for (const NoiseRun& run : library) {
    if (is_same_job(run.job, about.job)) add(run);
  }
  for (std::size_t figure = 0; figure < kStepFigures; ++figure) pooled_[figure] = pool(figure);
  describe();
}

void NoiseModel::add(const NoiseRun& run) {
  const auto& step = run.noise->step();
  if (!step || step->count < kFewestSteps || !(step->mean > 0)) return;
  job::Settings settings =
      model::packed_settings(model::acting_settings(*run.job.info, run.noise->chosen));
  auto group = std::ranges::find(groups_, settings, &Group::settings);
  if (group == groups_.end()) group = groups_.insert(group, Group{std::move(settings), {}});
  if (!group->holds(run)) group->runs.push_back(run);
}

// Each group holds runs of the same settings. In per cent of their group's mean, runs are taken to
// scatter alike whatever their settings, so that all groups together tell by how much.
auto NoiseModel::pool(std::size_t figure) const -> Pooled {
  Pooled result;
  double within = 0, errors = 0, steps = 0, runs = 0;
  for (const Group& group : groups_) {
    std::vector<MeanEstimate> known;
    double mean = 0;
    for (const NoiseRun& run : group.runs) {
      if (run.noise->estimates[figure]) known.push_back(*run.noise->estimates[figure]);
    }
    for (const auto& run : known) mean += run.mean / static_cast<double>(known.size());
    if (known.size() < 2 || !(mean > 0)) continue;
    result.freedom += static_cast<double>(known.size() - 1);
    for (const auto& run : known) {
      result.squares += (run.mean / mean - 1) * (run.mean / mean - 1);
      steps += static_cast<double>(run.count);
      ++runs;
      if (!run.has_error()) continue;
      within += run.standard_error * run.standard_error / (mean * mean);
      result.within_freedom += run.degrees_of_freedom;
      ++errors;
    }
  }
  if (runs > 0) result.mean_steps = steps / runs;
  if (errors > 0) result.within = within / errors;
  return result;
}

void NoiseModel::describe() {
  std::vector<double> errors, drifts;
  for (const Group& group : groups_) {
    for (const NoiseRun& run : group.runs) {
      const MeanEstimate& step = *run.noise->step();
      drifts.push_back(step.drift);
      if (step.has_error()) errors.push_back(step.standard_error / step.mean);
    }
    if (group.runs.size() < 2) continue;
    basis_.runs += static_cast<int>(group.runs.size());
    ++basis_.settings;
  }
  if (!errors.empty()) basis_.within_run = base::upper_median(errors);
  // Stouffer's sum of the runs' tests.
  const double drift = std::accumulate(drifts.begin(), drifts.end(), 0.0);
  basis_.drifts = drift > kDriftQuantile * std::sqrt(static_cast<double>(drifts.size()));
  const Pooled& step = pooled_[kStepTime];
  basis_.degrees_of_freedom = step.freedom;
  if (step.freedom > 0) basis_.between_runs = std::sqrt(step.squares / step.freedom);
}

bool NoiseModel::Group::holds(const NoiseRun& run) const {
  return std::ranges::any_of(runs,
                             [&](const NoiseRun& other) { return is_same_recording(other, run); });
}

auto NoiseModel::common_group(const NoiseRun& a, const NoiseRun& b) const -> const Group* {
  if (is_same_recording(a, b)) return nullptr;
  const auto found = std::ranges::find_if(
      groups_, [&](const Group& group) { return group.holds(a) && group.holds(b); });
  return found == groups_.end() ? nullptr : &*found;
}

// What is judged must not be judged by itself: its own share is taken out of the spread.
auto NoiseModel::pooled_without(std::size_t figure, const NoiseRun& a, const NoiseRun& b) const
    -> Pooled {
  Pooled pooled = pooled_[figure];
  const auto &first = a.noise->estimates[figure], &second = b.noise->estimates[figure];
  const bool is_known = first && second && first->mean + second->mean > 0;
  if (common_group(a, b) == nullptr || !(pooled.freedom > 0) || !is_known) return pooled;
  const double relative = (second->mean - first->mean) * 2 / (first->mean + second->mean);
  pooled.squares = std::max(0.0, pooled.squares - relative * relative / 2);
  --pooled.freedom;
  return pooled;
}

std::optional<Judgement> NoiseModel::judge_part(std::size_t whole, const PartSide& first,
                                                const PartSide& second) const {
  const MeanEstimate &a = first.part, &b = second.part;
  if (!a.has_error() || !b.has_error()) return std::nullopt;
  const Pooled pooled = pooled_without(whole, *first.run, *second.run);
  std::vector<Spread> spreads{within(a), within(b)};
  if (pooled.freedom >= 1) {
    const double variance = pooled.squares / pooled.freedom;
    spreads.push_back({variance * (a.mean * a.mean + b.mean * b.mean), pooled.freedom});
  } else if (basis_.drifts || common_group(*first.run, *second.run) != nullptr) {
    return std::nullopt;
  }
  return judgement_of(b.mean - a.mean, sum_of(spreads));
}

std::optional<Judgement> NoiseModel::judge(std::size_t figure, const Side& first,
                                           const Side& second) const {
  const auto &own = first.run->noise->estimates[figure],
             &other = second.run->noise->estimates[figure];
  if (!own || !other) return std::nullopt;
  const MeanEstimate a = scaled(*own, first.factor), b = scaled(*other, second.factor);
  const double difference = b.mean - a.mean;
  const Pooled pooled = pooled_without(figure, *first.run, *second.run);
  const Group* same = common_group(*first.run, *second.run);
  if (pooled.freedom < 1) {
    // No settings were run twice, so it is not known how much runs differ from one start to the
    // next. What is left is how much the steps within each run scatter, if they do not drift.
    const bool is_told = same == nullptr && !basis_.drifts && a.has_error() && b.has_error();
    return is_told ? std::optional(judgement_of(difference, sum_of({within(a), within(b)})))
                   : std::nullopt;
  }
  double more = 0;
  for (const MeanEstimate& side : {a, b}) {
    const double missing = pooled.mean_steps / static_cast<double>(side.count) - 1;
    if (missing <= 0) continue;
    // The spread was seen between longer runs than this one: a shorter one scatters by so much
    // more.
    if (!pooled.within) return std::nullopt;
    more += *pooled.within * missing * side.mean * side.mean;
  }
  const double of_runs = pooled.squares / pooled.freedom * (a.mean * a.mean + b.mean * b.mean);
  return judgement_of(difference,
                      sum_of({{of_runs, pooled.freedom}, {more, pooled.within_freedom}}));
}

std::optional<double> NoiseModel::apart() const {
  const NoiseBasis& b = basis_;
  if (!b.between_runs) return std::nullopt;
  return student_t_quantile(kFalseClaims, b.degrees_of_freedom) * std::sqrt(2.0) * *b.between_runs;
}

std::string NoiseModel::note() const {
  const NoiseBasis& b = basis_;
  if (const auto apart = this->apart()) {
    // Where one of two runs was disturbed this comes to thousands of per cent, which helps nobody.
    return "Two runs of the same settings differ by " +
           (*apart < 1 ? "up to " + percent_text(*apart) : "twofold and more") +
           " by chance (95 %, from " + std::to_string(b.runs) + " runs" +
           (b.settings > 1 ? " of " + std::to_string(b.settings) + " settings" : "") + ")" +
           (b.degrees_of_freedom < kFewIsTold ? ": more of them narrow it down" : "");
  }
  if (b.drifts) {
    return "Step times of these runs drift and no settings ran twice, so that it is not known "
           "whether runs differ by chance: three of the same settings on their machine would tell";
  }
  if (!b.within_run) return "";
  return "Spread within the run only (± " + percent_text(2 * *b.within_run) +
         "): it is not known whether runs differ by chance, which three of the same settings on "
         "their machine would tell";
}

std::vector<Verdict> beyond_chance(std::optional<double> headline,
                                   const std::vector<double>& others) {
  std::vector<Verdict> result(others.size() + 1);
  result[0].beyond_noise = headline && *headline <= kHeadlineClaims;
  const double level = result[0].beyond_noise ? kFalseClaims : kFalseClaims - kHeadlineClaims;
  std::vector<std::size_t> order(others.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return others[i]; });
  double claims = level;
  bool has_stopped = false;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (!has_stopped) claims = level / static_cast<double>(order.size() - place);
    has_stopped = has_stopped || others[order[place]] > claims;
    result[order[place] + 1] = {.beyond_noise = !has_stopped, .claims = claims};
  }
  return result;
}

}  // namespace shardlens::trace::analysis
