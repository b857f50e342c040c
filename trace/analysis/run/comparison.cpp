#include "trace/analysis/run/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trace/analysis/run/compared_run.h"
#include "trace/job/settings/settings.h"
#include "trace/model/packed.h"
#include "trace/model/run_info.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {

namespace {

std::int64_t effective_batch(const model::RunInfo& info) {
  const auto& s = info.settings;
  return s.batch_per_rank * s.gradient_accumulation_steps * info.world_size;
}

// How many steps were made and from which seed says nothing of how long one takes; the device that
// was really used is compared instead of the one that was asked for.
job::Settings without_ranks(const model::RunInfo& info) {
  job::Settings settings = model::packed_settings(info.settings);
  const job::Settings defaults;
  settings.ranks = defaults.ranks;
  settings.steps = defaults.steps;
  settings.epochs = defaults.epochs;
  settings.seed = defaults.seed;
  settings.device = defaults.device;
  return settings;
}

std::optional<ScalingKind> scaling_kind(const model::RunInfo& a, const model::RunInfo& b) {
  job::Settings x = without_ranks(a);
  const job::Settings y = without_ranks(b);
  if (x == y) return ScalingKind::kWeak;
  if (effective_batch(a) != effective_batch(b)) return std::nullopt;
  x.batch_per_rank = y.batch_per_rank;
  x.gradient_accumulation_steps = y.gradient_accumulation_steps;
  return x == y ? std::optional(ScalingKind::kStrong) : std::nullopt;
}

// All that was recorded, for nothing tells where its steps are.
bool counts_as_one_step(const RunFigures& run) {
  return std::ranges::any_of(
      run.ranks, [](const auto& rank) { return rank.info.sources.ends_with(model::kOneStep); });
}

class Comparer {
 public:
  explicit Comparer(const ComparedPair& runs)
      : runs_(runs), first_(runs.first.figures), second_(runs.second.figures) {}

  Comparison compare() {
    result_.other_job = why_other_job(runs_.first_noise.job, runs_.second_noise.job);
    if (counts_as_one_step(first_) || counts_as_one_step(second_)) {
      result_.other_job.push_back(OtherJob::kSteps);
    }
    result_.same_work = has_same_work(first_.info, second_.info);
    result_.noise = runs_.model.basis();
    result_.noise_note = runs_.model.note();
    compare_settings();
    add_step_figure(kStepTime);
    add_throughput();
    for (std::size_t figure = kStepTime + 1; figure < kStepFigures; ++figure) {
      add_step_figure(figure);
    }
    add_plain();
    compare_losses();
    decide_all();
    set_headline();
    result_.scaling = scaling_between(runs_.first_noise.job, first_.summary, runs_.second_noise.job,
                                      second_.summary);
    return std::move(result_);
  }

 private:
  FigureDifference& add(std::string_view name, FigureUnit unit, double first, double second) {
    FigureDifference figure{name,           unit,         first,        second,
                            second - first, std::nullopt, std::nullopt, std::nullopt};
    if (first != 0) figure.relative = figure.difference / first;
    return result_.figures.emplace_back(figure);
  }

  bool may_judge() const { return result_.other_job.empty(); }

  void add_step_figure(std::size_t figure) {
    const auto& first = runs_.first_noise.noise->estimates[figure];
    const auto& second = runs_.second_noise.noise->estimates[figure];
    if (!first || !second || (first->mean == 0 && second->mean == 0)) return;
    auto& added =
        add(step_figure_name(figure), FigureUnit::kNanoseconds, first->mean, second->mean);
    if (!may_judge() || !result_.same_work) return;
    const auto judgement = runs_.model.judge(figure, {&runs_.first_noise}, {&runs_.second_noise});
    if (!judgement) return;
    if (figure == kStepTime) {
      headline_ = judgement->p;
      added.half_width = judgement->half_width(kHeadlineClaims);
    } else {
      judged_.push_back({result_.figures.size() - 1, *judgement});
    }
  }

  // Whether two rates really differ is judged by the seconds per token: these are proportional to
  // step times, so that runs with the same tokens per step get the verdict of their step times.
  void add_throughput() {
    const double first = first_.summary.tokens_per_s.value_or(0);
    const double second = second_.summary.tokens_per_s.value_or(0);
    if (!(first > 0) || !(second > 0)) return;
    auto& added = add("tokens per second", FigureUnit::kPerSecond, first, second);
    const auto& a = runs_.first_noise.noise->step();
    const auto& b = runs_.second_noise.noise->step();
    if (result_.same_work || !may_judge() || !a || !b) return;
    const auto judgement = runs_.model.judge(kStepTime, {&runs_.first_noise, 1 / (first * a->mean)},
                                             {&runs_.second_noise, 1 / (second * b->mean)});
    if (!judgement) return;
    headline_ = judgement->p;
    // 1/b − 1/a = (a − b) ÷ ab: beyond its half width where the seconds per token are.
    added.half_width = judgement->half_width(kHeadlineClaims) * first * second;
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
    // Tensors are the same in every run of the same settings, what the process holds beside them
    // is not.
    const auto highest = [](const RunFigures& run, auto bytes_of) {
      std::int64_t result = 0;
      for (const auto& rank : run.ranks) result = std::max(result, bytes_of(rank.peak));
      return static_cast<double>(result);
    };
    const auto add_memory = [&](std::string_view name, auto bytes_of) {
      const double first = highest(first_, bytes_of), second = highest(second_, bytes_of);
      return first > 0 && second > 0 ? &add(name, FigureUnit::kBytes, first, second) : nullptr;
    };
    auto* tensors = add_memory("peak of tensors", [](const model::MemorySample& sample) {
      return sample.allocated_bytes();
    });
    if (tensors != nullptr && may_judge()) {
      const double peak = std::max(tensors->first, tensors->second);
      tensors->beyond_noise = !is_same_memory(tensors->first, tensors->second, peak);
    }
    add_memory("memory outside PyTorch", [](const model::MemorySample& sample) {
      return sample.total_bytes() - sample.allocated_bytes();
    });
  }

  void compare_settings() {
    result_.by_throughput = !result_.same_work;
    result_.knows_settings = model::has_settings(first_.info) && model::has_settings(second_.info);
    if (!result_.knows_settings) return;
    const auto& a = first_.info.settings;
    const auto& b = second_.info.settings;
    for (const auto* knob : job::differing_knobs(a, b)) {
      SettingDifference difference{std::string(knob->name), job::value_text(a, *knob),
                                   job::value_text(b, *knob)};
      if (model::may_be_one(difference.first, difference.second)) continue;
      result_.settings.push_back(std::move(difference));
    }
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

  std::string_view headline_name() const {
    return result_.by_throughput ? "tokens per second" : "step";
  }

  void decide_all() {
    const Verdict verdict = decide(headline_, judged_, result_.figures);
    if (!headline_) return;
    for (auto& figure : result_.figures) {
      // Tokens per second follow from the step time and share its verdict.
      const bool is_rate = figure.name == "tokens per second";
      if (figure.name == headline_name() || is_rate) figure.beyond_noise = verdict.beyond_noise;
    }
  }

  void set_headline() {
    for (const auto& figure : result_.figures) {
      if (figure.name != headline_name()) continue;
      result_.relative = figure.relative;
      result_.beyond_noise = figure.beyond_noise;
    }
  }

  const ComparedPair& runs_;
  const RunFigures& first_;
  const RunFigures& second_;
  std::optional<double> headline_;  // p
  std::vector<Judged> judged_;
  Comparison result_;
};

}  // namespace

bool is_same_memory(double first, double second, double peak) {
  return std::abs(second - first) < std::max(kAllocationGranule, kShareThatMatters * peak);
}

std::string_view to_string(ScalingKind kind) {
  return kind == ScalingKind::kWeak ? "weak" : "strong";
}

std::optional<Scaling> scaling_between(const JobFacts& a, const RunSummary& a_summary,
                                       const JobFacts& b, const RunSummary& b_summary) {
  const int from = a.info->world_size, to = b.info->world_size;
  if (from > to) return scaling_between(b, b_summary, a, a_summary);
  if (from < 1 || from == to || !is_same_job_with_more_hosts(a, b)) return {};
  if (!(a_summary.samples_per_s > 0) || !(b_summary.samples_per_s > 0)) return {};
  const auto kind = scaling_kind(*a.info, *b.info);
  if (!kind) return {};
  const double speedup = *b_summary.samples_per_s / *a_summary.samples_per_s;
  const bool has_more_hosts = std::ranges::count(b.hosts, ',') > std::ranges::count(a.hosts, ',');
  return Scaling{
      *kind, from, to, speedup, speedup * from / to, b.info->device == "cpu" && !has_more_hosts};
}

Comparison compare_runs(const ComparedPair& runs) { return Comparer(runs).compare(); }

Comparison compare_runs(const RunFigures& first, const RunFigures& second,
                        const std::vector<NoiseRun>& others) {
  return compare_runs(ComparedPair(first, second, others));
}

}  // namespace shardlens::trace::analysis
