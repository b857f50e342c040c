#include "trace/analysis/compare/run_difference.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/compare/named_times.h"
#include "trace/analysis/figures/labels.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/analysis/noise/step_estimates.h"
#include "trace/analysis/run/compared_run.h"

namespace shardlens::trace::analysis {

namespace {

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

class DetailJudge {
 public:
  DetailJudge(const ComparedSide& first, const ComparedSide& second,
              const std::vector<NoiseRun>& others)
      : first_(first.figures),
        second_(second.figures),
        first_noise_(first_.for_model()),
        second_noise_(second_.for_model()),
        model_(first_noise_, with_compared(others, first_, second_)),
        other_buckets_(other_buckets(first.figures, second.figures)) {}

  // Of these nothing is told.
  std::size_t other_bucket_count() const { return other_buckets_.size(); }

  // Those of one kind, tested together.
  std::vector<DetailDifference> compare(DetailKind kind, const NamedTimes& first,
                                        const NamedTimes& second, bool may_judge) const {
    std::vector<DetailDifference> details;
    std::vector<Judged> judged;
    for (const auto& key : keys_of(kind, first, second)) {
      if (kind == DetailKind::kTag && other_buckets_.contains(key.second)) continue;
      if (first.not_timed.contains(key) || second.not_timed.contains(key)) continue;
      const MeanEstimate a = estimate_of(first, key), b = estimate_of(second, key);
      DetailDifference detail{.kind = kind, .name = key.second, .first = a.mean, .second = b.mean};
      detail.is_only_in_one = is_only_in_one(first, second, key);
      if (may_judge && detail.is_only_in_one) {
        detail.beyond_noise = true;
      } else if (may_judge) {
        const auto judgement =
            model_.judge_part(whole_of(kind), {&first_noise_, a}, {&second_noise_, b});
        if (judgement) judged.push_back({details.size(), *judgement});
      }
      details.push_back(std::move(detail));
    }
    decide(judged, details);
    sort_by_difference(details);
    return details;
  }

 private:
  struct Judged {
    std::size_t detail = 0;
    Judgement judgement;
  };

  static void decide(const std::vector<Judged>& judged, std::vector<DetailDifference>& details) {
    std::vector<double> chances;
    for (const Judged& one : judged) chances.push_back(one.judgement.p);
    const auto verdicts = beyond_chance(std::nullopt, chances);
    for (std::size_t i = 0; i < judged.size(); ++i) {
      DetailDifference& detail = details[judged[i].detail];
      detail.beyond_noise = verdicts[i + 1].beyond_noise;
      detail.half_width = judged[i].judgement.half_width(verdicts[i + 1].claims);
    }
  }

  static std::set<NamedTimes::Key> keys_of(DetailKind kind, const NamedTimes& first,
                                           const NamedTimes& second) {
    std::set<NamedTimes::Key> keys;
    for (const NamedTimes* times : {&first, &second}) {
      for (const auto& [key, series] : times->ns) {
        if (key.first == kind) keys.insert(key);
      }
    }
    return keys;
  }

  const ComparedRun first_, second_;
  const NoiseRun first_noise_, second_noise_;
  const NoiseModel model_;
  const std::set<std::string> other_buckets_;
};

}  // namespace

RunDifference difference_between(const ComparedSide& base, const ComparedSide& run,
                                 const std::vector<NoiseRun>& others) {
  RunDifference difference{.comparison = compare_runs(base.figures, run.figures, others),
                           .explanation = {},
                           .details = {}};
  const Comparison& comparison = difference.comparison;
  difference.explanation = explain_step(base.figures, run.figures, comparison);
  const bool is_same_job = comparison.other_job.empty();
  const bool has_names = base.times != nullptr && run.times != nullptr;
  if (has_names && base.times->steps > 0 && run.times->steps > 0) {
    const DetailJudge judge(base, run, others);
    const bool has_sizes = base.times->has_all_sizes && run.times->has_all_sizes;
    difference.other_buckets = judge.other_bucket_count();
    for (const DetailKind kind : {DetailKind::kWork, DetailKind::kCollective, DetailKind::kTag}) {
      if (kind == DetailKind::kCollective && !has_sizes) continue;
      for (auto& detail :
           judge.compare(kind, *base.times, *run.times, is_same_job && comparison.same_work)) {
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
