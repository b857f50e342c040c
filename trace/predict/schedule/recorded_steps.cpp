#include "trace/predict/schedule/recorded_steps.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace shardlens::trace::predict {

namespace {

// The node of autograd that ends with a parameter's gradient; what listens to it runs within.
constexpr std::string_view kNode = "autograd::engine::evaluate_function";
constexpr std::string_view kGradient = "AccumulateGrad";
constexpr std::size_t kMostGivenUp = 1024;  // steps, of which too few told enough

std::span<const std::int64_t> within(const std::vector<std::int64_t>& sorted, std::int64_t begin,
                                     std::int64_t end) {
  const auto from = std::ranges::lower_bound(sorted, begin);
  return {from, std::upper_bound(from, sorted.end(), end)};
}

std::span<const base::Interval> within(const std::vector<base::Interval>& sorted,
                                       const model::Step& step) {
  const auto from = std::ranges::lower_bound(sorted, step.start_ns, {}, &base::Interval::start_ns);
  const auto to =
      std::ranges::upper_bound(from, sorted.end(), step.end_ns, {}, &base::Interval::start_ns);
  return {from, to};
}

// `count`: gradients of a micro-batch.
std::optional<RankStep> rank_step(const model::Step& step,
                                  const std::vector<std::int64_t>& gradients,
                                  std::span<const base::Interval> forwards,
                                  std::span<const base::Interval> backwards, std::size_t count) {
  if (!step.full_detail) return std::nullopt;
  const auto ready = within(gradients, step.start_ns, step.end_ns);
  if (count == 0 || backwards.empty() || forwards.size() != backwards.size() ||
      ready.size() != backwards.size() * count) {
    return std::nullopt;
  }
  RankStep told{step.start_ns, step.end_ns, {}};
  std::int64_t start_ns = step.start_ns;
  for (std::size_t i = 0; i < backwards.size(); ++i) {
    const auto gradients_of = ready.subspan(i * count, count);
    told.micro_batches.push_back({start_ns,
                                  forwards[i].length(),
                                  backwards[i].start_ns,
                                  backwards[i].end_ns,
                                  {gradients_of.begin(), gradients_of.end()}});
    start_ns = backwards[i].end_ns;
  }
  return told;
}

}  // namespace

bool RecordedSteps::is_gradient(int rank, model::StringId name) {
  const auto [known, is_new] = is_gradient_.try_emplace({rank, name}, false);
  if (is_new) {
    const std::string_view text = strings_.get(rank, name);
    known->second = text.starts_with(kNode) && text.ends_with(kGradient);
  }
  return known->second;
}

void RecordedSteps::learn(const model::Batch& batch) {
  if (is_enough_) return;
  for (const auto& string : batch.strings) strings_.add(string);
  for (const model::Bucket& bucket : batch.buckets) {
    if (bucket.rank != 0 || bucket.plan < plan_) continue;
    if (bucket.plan > plan_) buckets_.clear();
    plan_ = bucket.plan;
    buckets_[bucket.index] = bucket;
  }
  for (const model::Step& step : batch.steps) steps_[{step.rank, step.index}] = step;
  for (const model::Span& span : batch.spans) {
    if (span.depth != 0) continue;
    const base::Interval time{span.start_ns, span.end_ns};
    if (span.phase == base::Phase::kForward) phases_[span.rank].forward.push_back(time);
    if (span.phase == base::Phase::kBackward) phases_[span.rank].backward.push_back(time);
  }
  for (const model::Collective& call : batch.collectives) {
    if (call.tag_kind != model::TagKind::kBucket || call.bytes <= 0) continue;
    Call& all = calls_[{call.process_group, call.sequence}];
    ++all.ranks;
    all.bytes = call.bytes;
    all.latest_start_ns = std::max(all.latest_start_ns, call.start_ns);
    all.end_ns = std::max(all.end_ns, call.end_ns);
  }
  for (const model::EventRun& run : batch.events) {
    if (run.kind != model::EventKind::kOperator) continue;
    for (const model::Event& event : run.events) {
      if (is_gradient(run.rank, event.name)) gradients_[run.rank].push_back(event.end_ns());
    }
  }
  see_if_enough();
}

// A step's rows may come before its events, so that some more may be needed.
void RecordedSteps::see_if_enough() {
  const std::size_t told = steps_.size() / static_cast<std::size_t>(std::max(ranks_, 1));
  if (told < look_again_) return;
  look_again_ = told + kMostSteps / 4;
  is_enough_ = told > kMostGivenUp || steps().size() >= kMostSteps;
}

std::vector<std::int64_t> RecordedSteps::gradient_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const auto& [index, bucket] : buckets_) {
    bytes.insert(bytes.end(), bucket.parameter_bytes.begin(), bucket.parameter_bytes.end());
  }
  return bytes;
}

std::vector<std::int64_t> RecordedSteps::bucket_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const auto& [index, bucket] : buckets_) bytes.push_back(bucket.bytes);
  return bytes;
}

TransferCosts RecordedSteps::costs() const {
  const auto chosen = steps();
  std::int64_t until_ns = chosen.empty() ? INT64_MAX : 0;
  for (const RecordedStep& step : chosen) {
    for (const RankStep& rank : step.ranks) until_ns = std::max(until_ns, rank.end_ns);
  }
  MeasuredTransfers measured;
  for (const auto& [key, call] : calls_) {
    if (call.ranks != ranks_ || call.end_ns < call.latest_start_ns) continue;  // one is missing
    if (call.end_ns > until_ns) continue;  // however much more was read
    measured[static_cast<double>(call.bytes)].push_back(
        static_cast<double>(call.end_ns - call.latest_start_ns));
  }
  return TransferCosts(measured);
}

std::vector<RecordedStep> RecordedSteps::steps() const {
  std::map<int, std::vector<std::int64_t>> gradients = gradients_;
  for (auto& [rank, times] : gradients) std::ranges::sort(times);
  std::map<int, Phases> phases = phases_;
  for (auto& [rank, of_rank] : phases) {
    std::ranges::sort(of_rank.forward);
    std::ranges::sort(of_rank.backward);
  }
  const std::size_t count = gradient_bytes().size();
  std::map<std::int64_t, RecordedStep> found;
  for (const auto& [key, step] : steps_) {
    const auto& [rank, index] = key;
    if (index < first_step_ || rank >= ranks_) continue;
    const Phases& all = phases[rank];
    auto told = rank_step(step, gradients[rank], within(all.forward, step),
                          within(all.backward, step), count);
    if (!told) continue;
    RecordedStep& of_all = found[index];
    of_all.index = index;
    of_all.ranks.push_back(std::move(*told));
  }
  std::vector<RecordedStep> complete;
  for (auto& [index, step] : found) {
    if (complete.size() == kMostSteps) break;
    const auto differs = [](const RankStep& a, const RankStep& b) {
      return a.micro_batches.size() != b.micro_batches.size();
    };
    if (step.ranks.size() == static_cast<std::size_t>(ranks_) &&
        std::ranges::adjacent_find(step.ranks, differs) == step.ranks.end()) {
      complete.push_back(std::move(step));
    }
  }
  return complete;
}

}  // namespace shardlens::trace::predict
