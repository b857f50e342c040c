#include "trace/analysis/comparison.h"

#include <algorithm>
#include <functional>

#include "trace/analysis/noise.h"
#include "trace/analysis/run_summary.h"
#include "trace/model/settings.h"

namespace shardlens::trace {

namespace {

using PerRank = std::function<double(const StepBreakdown&)>;

// One value per measured step: the mean over ranks.
std::vector<double> series_of(const RunFigures& run, bool needs_detail, const PerRank& value) {
  std::vector<double> series;
  for (const auto& step : run.steps) {
    if (!is_measured(step) || (needs_detail && !has_detail(step))) continue;
    double sum = 0;
    for (const auto& rank : step.ranks) sum += value(rank);
    series.push_back(sum / step.rank_count());
  }
  return series;
}

double mean_of(const std::vector<double>& series) {
  double sum = 0;
  for (double value : series) sum += value;
  return sum / static_cast<double>(series.size());
}

std::int64_t effective_batch(const RunInfo& info) {
  const auto& s = info.settings;
  return s.batch_per_rank * s.gradient_accumulation_steps * info.world_size;
}

// How many steps were made and from which seed says nothing of how long one takes; the device that
// was really used is compared instead of the one that was asked for.
Settings without_ranks(const RunInfo& info) {
  Settings settings = info.settings;
  const Settings defaults;
  settings.ranks = defaults.ranks;
  settings.steps = defaults.steps;
  settings.epochs = defaults.epochs;
  settings.seed = defaults.seed;
  settings.device = defaults.device;
  return settings;
}

std::optional<ScalingKind> scaling_kind(const RunInfo& a, const RunInfo& b) {
  Settings x = without_ranks(a);
  const Settings y = without_ranks(b);
  if (x == y) return ScalingKind::kWeak;
  if (effective_batch(a) != effective_batch(b)) return std::nullopt;
  x.batch_per_rank = y.batch_per_rank;
  x.gradient_accumulation_steps = y.gradient_accumulation_steps;
  return x == y ? std::optional(ScalingKind::kStrong) : std::nullopt;
}

class Comparer {
 public:
  Comparer(const RunFigures& first, const RunFigures& second) : first_(first), second_(second) {}

  Comparison compare() {
    compare_settings();
    add_series("step", false, [](const auto& rank) { return static_cast<double>(rank.step_ns); });
    add_throughput();
    add_detail();
    add_phases();
    add_plain();
    compare_losses();
    set_headline();
    result_.scaling = scaling_between(first_.info, first_.summary, second_.info, second_.summary);
    return std::move(result_);
  }

 private:
  FigureDifference& add(std::string_view name, FigureUnit unit, double first, double second) {
    FigureDifference figure{name, unit, first, second, second - first, std::nullopt, std::nullopt};
    if (first != 0) figure.relative = figure.difference / first;
    return result_.figures.emplace_back(figure);
  }

  void add_series(std::string_view name, bool needs_detail, const PerRank& value) {
    const auto first = series_of(first_, needs_detail, value);
    const auto second = series_of(second_, needs_detail, value);
    if (first.empty() || second.empty()) return;
    const double first_mean = mean_of(first);
    const double second_mean = mean_of(second);
    if (first_mean == 0 && second_mean == 0) return;
    auto& figure = add(name, FigureUnit::kNanoseconds, first_mean, second_mean);
    figure.beyond_noise = differ(estimate_mean(first), estimate_mean(second));
  }

  void add_throughput() {
    const double first = first_.summary.tokens_per_s;
    const double second = second_.summary.tokens_per_s;
    if (first <= 0 || second <= 0) return;
    const auto estimate = [](const RunFigures& run) {
      return estimate_reciprocal(run.summary.tokens_per_s,
                                 estimate_mean(measured_step_times(run.steps)));
    };
    auto& figure = add("tokens per second", FigureUnit::kPerSecond, first, second);
    figure.beyond_noise = differ(estimate(first_), estimate(second_));
  }

  void add_detail() {
    struct Part {
      std::string_view name;
      std::int64_t StepBreakdown::*member;
    };
    constexpr Part kParts[] = {{"compute", &StepBreakdown::compute_ns},
                               {"communication", &StepBreakdown::comm_ns},
                               {"overlap", &StepBreakdown::overlap_ns},
                               {"exposed", &StepBreakdown::exposed_ns},
                               {"copies", &StepBreakdown::copy_ns},
                               {"exposed copies", &StepBreakdown::exposed_copy_ns},
                               {"idle", &StepBreakdown::idle_ns}};
    for (const auto& part : kParts) {
      add_series(part.name, true,
                 [&](const auto& rank) { return static_cast<double>(rank.*part.member); });
    }
  }

  void add_phases() {
    for (int i = 0; i < kPhaseCount; ++i) {
      const auto phase = static_cast<std::size_t>(i);
      add_series(to_string(static_cast<Phase>(i)), false,
                 [&](const auto& rank) { return static_cast<double>(rank.phase_ns[phase]); });
    }
  }

  void add_optional(std::string_view name, FigureUnit unit, std::optional<double> first,
                    std::optional<double> second) {
    if (first && second) add(name, unit, *first, *second);
  }

  void add_plain() {
    const auto& a = first_.summary;
    const auto& b = second_.summary;
    add_optional("overlap fraction", FigureUnit::kFraction, a.overlap_fraction, b.overlap_fraction);
    add_optional("MFU", FigureUnit::kFraction, a.mfu, b.mfu);
    add_optional("bytes sent per step", FigureUnit::kBytes, a.bytes_sent_per_step,
                 b.bytes_sent_per_step);
    const auto peak = [](const RunFigures& run) {
      std::int64_t highest = 0;
      for (const auto& rank : run.ranks) highest = std::max(highest, rank.peak.total_bytes());
      return static_cast<double>(highest);
    };
    if (peak(first_) > 0 && peak(second_) > 0) {
      add("peak memory", FigureUnit::kBytes, peak(first_), peak(second_));
    }
  }

  void compare_settings() {
    const auto& a = first_.info.settings;
    const auto& b = second_.info.settings;
    for (const auto* knob : differing_knobs(a, b)) {
      result_.settings.push_back(
          {std::string(knob->name), value_text(a, *knob), value_text(b, *knob)});
    }
    result_.by_throughput = a.batch_per_rank != b.batch_per_rank ||
                            a.sequence_length != b.sequence_length ||
                            a.gradient_accumulation_steps != b.gradient_accumulation_steps ||
                            first_.info.world_size != second_.info.world_size;
  }

  void compare_losses() {
    if (first_.info.communication_off || second_.info.communication_off) return;
    const auto known = [](double loss) {
      return loss == loss ? std::optional(loss) : std::nullopt;
    };
    const auto was_read = [](const StepFigures& step) {
      return step.loss == step.loss || step.nonfinite;
    };
    auto a = first_.steps.rbegin();
    auto b = second_.steps.rbegin();
    while (a != first_.steps.rend() && b != second_.steps.rend()) {
      if (a->index != b->index) {
        (a->index > b->index) ? static_cast<void>(++a) : static_cast<void>(++b);
        continue;
      }
      // With `loss_every` the last step of both may be one whose loss nobody read.
      const bool both_read = was_read(*a) && was_read(*b);
      if (both_read || result_.common_step < 0) {
        result_.common_step = a->index;
        result_.first_loss = known(a->loss);
        result_.second_loss = known(b->loss);
      }
      if (both_read) break;
      ++a;
      ++b;
    }
    if (result_.common_step < 0) return;
    add_optional("loss", FigureUnit::kNone, result_.first_loss, result_.second_loss);
  }

  void set_headline() {
    const std::string_view wanted = result_.by_throughput ? "tokens per second" : "step";
    for (const auto& figure : result_.figures) {
      if (figure.name != wanted) continue;
      result_.relative = figure.relative;
      result_.beyond_noise = figure.beyond_noise.value_or(false);
    }
  }

  const RunFigures& first_;
  const RunFigures& second_;
  Comparison result_;
};

}  // namespace

std::string_view to_string(ScalingKind kind) {
  return kind == ScalingKind::kWeak ? "weak" : "strong";
}

std::optional<Scaling> scaling_between(const RunInfo& a, const RunSummary& a_summary,
                                       const RunInfo& b, const RunSummary& b_summary) {
  if (a.world_size > b.world_size) return scaling_between(b, b_summary, a, a_summary);
  if (a.world_size < 1 || a.world_size == b.world_size || a.device != b.device) return {};
  if (!(a_summary.samples_per_s > 0) || !(b_summary.samples_per_s > 0)) return {};
  const auto kind = scaling_kind(a, b);
  if (!kind) return {};
  const double speedup = b_summary.samples_per_s / a_summary.samples_per_s;
  return Scaling{*kind,
                 a.world_size,
                 b.world_size,
                 speedup,
                 speedup * a.world_size / b.world_size,
                 a.device == "cpu"};
}

Comparison compare_runs(const RunFigures& first, const RunFigures& second) {
  return Comparer(first, second).compare();
}

}  // namespace shardlens::trace
