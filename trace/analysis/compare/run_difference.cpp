#include "trace/analysis/compare/run_difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/analysis/compare/named_times.h"
#include "trace/analysis/figures/labels.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/analysis/noise/step_estimates.h"
#include "trace/analysis/run/compared_run.h"

namespace shardlens::trace::analysis {

namespace {

struct SharedPart {
  StepShare share;
  std::string_view name;
  double RunSummary::*mean;
};
constexpr SharedPart kComputePart{StepShare::kCompute, "compute", &RunSummary::compute_ns};
constexpr SharedPart kExposedPart{StepShare::kExposed, "exposed", &RunSummary::exposed_ns};
constexpr SharedPart kOtherParts[] = {
    {StepShare::kExposedCopy, "exposed copies", &RunSummary::exposed_copy_ns},
    {StepShare::kIdle, "idle", &RunSummary::idle_ns},
};

class Explainer {
 public:
  Explainer(const RunSummary& first, const RunSummary& second, const Comparison& comparison)
      : first_(first), second_(second), comparison_(comparison) {}

  std::vector<ShareDifference> parts() {
    if (!first_.has_detail || !second_.has_detail) return {};
    add(kComputePart);
    if (first_.exposed_wait_ns && second_.exposed_wait_ns) {
      add(StepShare::kWaiting, kWaitingName, *first_.exposed_wait_ns, *second_.exposed_wait_ns);
      add(StepShare::kTransfer, kTransferName, first_.exposed_ns - *first_.exposed_wait_ns,
          second_.exposed_ns - *second_.exposed_wait_ns);
    } else {
      add(kExposedPart);
    }
    for (const SharedPart& part : kOtherParts) add(part);
    if (lacks_detail(first_) || lacks_detail(second_)) {
      add(StepShare::kUndetailed, "steps without detail",
          first_.step_ns.mean - first_.detailed_step_ns,
          second_.step_ns.mean - second_.detailed_step_ns);
    }
    return sorted();
  }

  std::vector<ShareDifference> phases() {
    for (std::size_t phase = 0; phase < first_.phase_ns.size(); ++phase) {
      const auto &a = first_.phase_ns[phase], &b = second_.phase_ns[phase];
      // The time of a phase that one of two programs does not mark lies in its other phases.
      if (a.has_value() != b.has_value()) return {};
      if (a) add(StepShare::kPhase, base::to_string(static_cast<base::Phase>(phase)), *a, *b);
    }
    return sorted();
  }

 private:
  static bool lacks_detail(const RunSummary& run) {
    return run.steps_detailed != run.steps_measured;
  }

  void add(const SharedPart& part) {
    add(part.share, part.name, first_.*part.mean, second_.*part.mean);
  }

  void add(StepShare share, std::string_view name, double first, double second) {
    if (first == 0 && second == 0) return;
    ShareDifference added{.share = share, .name = name, .first = first, .second = second};
    const auto judged = std::ranges::find(comparison_.figures, name, &FigureDifference::name);
    if (judged != comparison_.figures.end()) {
      added.half_width = judged->half_width;
      added.beyond_noise = judged->beyond_noise;
    }
    shares_.push_back(added);
  }

  std::vector<ShareDifference> sorted() {
    std::ranges::stable_sort(shares_, std::ranges::greater{},
                             [](const auto& share) { return std::abs(share.difference()); });
    return std::exchange(shares_, {});
  }

  const RunSummary &first_, &second_;
  const Comparison& comparison_;
  std::vector<ShareDifference> shares_;
};

// What a named thing is a part of, and so is taken to scatter like: places among step figures.
std::size_t whole_of(DetailKind kind) {
  const std::string_view name = kind == DetailKind::kWork ? "compute" : "communication";
  for (std::size_t figure = 0; figure < kStepParts; ++figure) {
    if (step_figure_name(figure) == name) return figure;
  }
  return kStepTime;
}

bool is_in_every_step(const NamedTimes& times, const NamedTimes::Key& key) {
  const auto found = times.ns.find(key);
  return found != times.ns.end() &&
         std::ranges::all_of(found->second, [](double ns) { return ns > 0; });
}

bool is_only_in_one(const NamedTimes& first, const NamedTimes& second, const NamedTimes::Key& key) {
  return first.ns.contains(key) ? is_in_every_step(first, key) && !second.ns.contains(key)
                                : is_in_every_step(second, key);
}

// A name that does not occur took no time in any step.
MeanEstimate estimate_of(const NamedTimes& times, const NamedTimes::Key& key) {
  const auto found = times.ns.find(key);
  const auto series =
      found == times.ns.end() ? std::vector<double>(times.steps, 0.0) : found->second;
  return estimate_mean(series).value_or(MeanEstimate{});
}

// A number says what a bucket holds only together with the plan. Tags of those that are not the
// same in both; none where a run has no plan.
std::set<std::string> other_buckets(const RunFigures& first, const RunFigures& second) {
  if (first.buckets.empty() || second.buckets.empty()) return {};
  std::map<int, std::vector<const BucketFigures*>> by_index;
  for (const RunFigures* run : {&first, &second}) {
    for (const BucketFigures& bucket : run->buckets) by_index[bucket.index].push_back(&bucket);
  }
  std::set<std::string> tags;
  for (const auto& [index, held] : by_index) {
    const bool is_same = held.size() == 2 && held[0]->parameters == held[1]->parameters &&
                         held[0]->bytes == held[1]->bytes;
    if (!is_same) tags.insert(tag_text(model::TagKind::kBucket, index, {}));
  }
  return tags;
}

std::set<NamedTimes::Key> keys_of(DetailKind kind, const NamedTimes& first,
                                  const NamedTimes& second) {
  std::set<NamedTimes::Key> keys;
  for (const NamedTimes* times : {&first, &second}) {
    for (const auto& [key, series] : times->ns) {
      if (key.first == kind) keys.insert(key);
    }
  }
  return keys;
}

// The greatest difference first.
void sort_by_difference(std::vector<DetailDifference>& details) {
  std::ranges::stable_sort(details, std::ranges::greater{}, [](const DetailDifference& detail) {
    return std::abs(detail.difference());
  });
}

// Those of one kind, tested together. `judged_by` is null where they are not to be judged.
std::vector<DetailDifference> compare_named(DetailKind kind, const NamedTimes& first,
                                            const NamedTimes& second,
                                            const std::set<std::string>& left_out_tags,
                                            const ComparedPair* judged_by) {
  std::vector<DetailDifference> details;
  std::vector<Judged> judged;
  for (const auto& key : keys_of(kind, first, second)) {
    if (kind == DetailKind::kTag && left_out_tags.contains(key.second)) continue;
    if (first.not_timed.contains(key) || second.not_timed.contains(key)) continue;
    const MeanEstimate a = estimate_of(first, key), b = estimate_of(second, key);
    DetailDifference detail{.kind = kind, .name = key.second, .first = a.mean, .second = b.mean};
    detail.is_only_in_one = is_only_in_one(first, second, key);
    if (judged_by != nullptr && detail.is_only_in_one) {
      detail.beyond_noise = true;
    } else if (judged_by != nullptr) {
      const auto judgement = judged_by->model.judge_part(
          whole_of(kind), {&judged_by->first_noise, a}, {&judged_by->second_noise, b});
      if (judgement) judged.push_back({details.size(), *judgement});
    }
    details.push_back(std::move(detail));
  }
  decide(std::nullopt, judged, details);
  sort_by_difference(details);
  return details;
}

// Null: no rank has told anything.
const model::MemorySample* highest_peak(const RunFigures& run) {
  const model::MemorySample* highest = nullptr;
  for (const RankFigures& rank : run.ranks) {
    const bool is_higher =
        highest == nullptr || rank.peak.allocated_bytes() > highest->allocated_bytes();
    if (rank.peak.allocated_bytes() > 0 && is_higher) highest = &rank.peak;
  }
  return highest;
}

}  // namespace

StepExplanation explain_step(const RunFigures& first, const RunFigures& second,
                             const Comparison& comparison) {
  StepExplanation result{.first_ns = first.summary.step_ns.mean,
                         .second_ns = second.summary.step_ns.mean,
                         .parts = {},
                         .phases = {}};
  if (first.summary.steps_measured == 0 || second.summary.steps_measured == 0) return result;
  Explainer explainer(first.summary, second.summary, comparison);
  result.parts = explainer.parts();
  result.phases = explainer.phases();
  return result;
}

std::vector<DetailDifference> memory_differences(const RunFigures& first, const RunFigures& second,
                                                 bool may_judge) {
  std::vector<DetailDifference> details;
  const auto *a = highest_peak(first), *b = highest_peak(second);
  if (a == nullptr || b == nullptr) return details;
  const auto peak = static_cast<double>(std::max(a->allocated_bytes(), b->allocated_bytes()));
  for (std::size_t i = 0; i < model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<model::MemoryCategory>(i);
    const bool is_told = a->knows(category) && b->knows(category);
    const bool is_empty = a->bytes[i] == 0 && b->bytes[i] == 0;
    if (category == model::MemoryCategory::kOutside || !is_told || is_empty) continue;
    DetailDifference detail{.kind = DetailKind::kMemory,
                            .name = std::string(model::to_string(category)),
                            .unit = FigureUnit::kBytes,
                            .first = static_cast<double>(a->bytes[i]),
                            .second = static_cast<double>(b->bytes[i])};
    if (may_judge) detail.beyond_noise = !is_same_memory(detail.first, detail.second, peak);
    details.push_back(std::move(detail));
  }
  sort_by_difference(details);
  return details;
}

RunDifference difference_between(const ComparedSide& base, const ComparedSide& run,
                                 const std::vector<NoiseRun>& others) {
  const ComparedPair runs(base.figures, run.figures, others);
  RunDifference difference{.comparison = compare_runs(runs), .explanation = {}, .details = {}};
  const Comparison& comparison = difference.comparison;
  difference.explanation = explain_step(base.figures, run.figures, comparison);
  const bool is_same_job = comparison.other_job.empty();
  const bool has_names = base.times != nullptr && run.times != nullptr;
  if (has_names && base.times->steps > 0 && run.times->steps > 0) {
    const auto left_out_tags = other_buckets(base.figures, run.figures);
    const bool may_judge = is_same_job && comparison.same_work;
    const bool has_sizes = base.times->has_all_sizes && run.times->has_all_sizes;
    difference.other_buckets = left_out_tags.size();
    for (const DetailKind kind : {DetailKind::kWork, DetailKind::kCollective, DetailKind::kTag}) {
      if (kind == DetailKind::kCollective && !has_sizes) continue;
      for (auto& detail : compare_named(kind, *base.times, *run.times, left_out_tags,
                                        may_judge ? &runs : nullptr)) {
        difference.details.push_back(std::move(detail));
      }
    }
  }
  for (auto& detail : memory_differences(base.figures, run.figures, is_same_job)) {
    difference.details.push_back(std::move(detail));
  }
  return difference;
}

}  // namespace shardlens::trace::analysis
