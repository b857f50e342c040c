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

std::optional<RankStep> rank_step(const model::Step& step,
                                  const std::vector<std::int64_t>& gradients,
                                  const std::vector<std::int64_t>& backwards, std::size_t count) {
  if (!step.full_detail) return std::nullopt;
  const auto ready = within(gradients, step.start_ns, step.end_ns);
  const auto ended = within(backwards, step.start_ns, step.end_ns);
  // Of several micro-batches the last one's are reduced.
  if (count == 0 || ready.size() < count || ready.size() % count != 0 || ended.empty()) {
    return std::nullopt;
  }
  const auto last = ready.last(count);
  return RankStep{step.start_ns, step.end_ns, ended.back(), {last.begin(), last.end()}};
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
    if (span.depth == 0 && span.phase == base::Phase::kBackward) {
      backwards_[span.rank].push_back(span.end_ns);
    }
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
  std::map<int, std::vector<std::int64_t>> gradients = gradients_, backwards = backwards_;
  for (auto* all : {&gradients, &backwards}) {
    for (auto& [rank, times] : *all) std::ranges::sort(times);
  }
  const std::size_t count = gradient_bytes().size();
  std::map<std::int64_t, RecordedStep> found;
  for (const auto& [key, step] : steps_) {
    const auto& [rank, index] = key;
    if (index < first_step_ || rank >= ranks_) continue;
    auto told = rank_step(step, gradients[rank], backwards[rank], count);
    if (!told) continue;
    RecordedStep& of_all = found[index];
    of_all.index = index;
    of_all.ranks.push_back(std::move(*told));
  }
  std::vector<RecordedStep> complete;
  for (auto& [index, step] : found) {
    if (complete.size() == kMostSteps) break;
    if (step.ranks.size() == static_cast<std::size_t>(ranks_)) complete.push_back(std::move(step));
  }
  return complete;
}

}  // namespace shardlens::trace::predict
