#include "trace/predict/plan/remedies.h"

#include <algorithm>
#include <optional>

#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/memory/memory_model.h"
#include "trace/predict/plan/plan.h"

namespace shardlens::trace::predict {

namespace {

using Change = Remedy::Change;
// Knobs that are changed together and count as one change.
using Way = std::vector<Change>;

constexpr std::size_t kMostRemedies = 8;

void add_strategies(const PlannedJob& job, std::vector<Way>& ways) {
  for (const job::StrategyTraits& traits : job::strategies()) {
    if (traits.strategy == job.settings.sharding_strategy || job.ranks == 1) continue;
    // Within one machine the hybrid forms are the plain ones.
    if (traits.has_groups && job.ranks <= job.ranks_per_node) continue;
    if (traits.shards_optimizer) ways.push_back({{"sharding_strategy", std::string(traits.name)}});
  }
}

void add_recomputation(const PlannedJob& job, std::vector<Way>& ways) {
  const std::int64_t now = job.settings.activation_checkpointing;
  for (const std::int64_t every : {2, 1}) {
    if ((now == 0 || every < now) && (every == 1 || every < job.shape.layers)) {
      ways.push_back({{"activation_checkpointing", std::to_string(every)}});
    }
  }
}

void add_precision(const PlannedJob& job, std::vector<Way>& ways) {
  const job::Settings& s = job.settings;
  if (s.param_dtype != job::DataType::kAuto) return;
  const bool has_units = job::strategy_traits(s.sharding_strategy).has_units;
  if (s.precision == job::Precision::kFp32) {
    ways.push_back({{has_units ? "param_dtype" : "precision", "bf16"}});
  } else if (has_units) {
    // Autocast keeps whole gathered copies of the weights until backward.
    ways.push_back(
        {{"precision", "fp32"}, {"param_dtype", job::chosen<&job::Settings::precision>(s)}});
  }
}

// Those that cost least first: nothing, communication, computation, the host's link, precision.
std::vector<Way> possible_ways(const PlannedJob& job) {
  const job::Settings& s = job.settings;
  const job::StrategyTraits& now = job::strategy_traits(s.sharding_strategy);
  std::vector<Way> ways;
  if (!now.has_units && !s.gradient_as_bucket_view) {
    ways.push_back({{"gradient_as_bucket_view", "true"}});
  }
  if (s.loss_chunk_tokens == 0) ways.push_back({{"loss_chunk_tokens", "auto"}});
  add_strategies(job, ways);
  add_recomputation(job, ways);
  if (now.shards_parameters && !s.cpu_offload) ways.push_back({{"cpu_offload", "true"}});
  add_precision(job, ways);
  return ways;
}

std::optional<PlannedJob> changed(PlannedJob job, const Way& changes) {
  for (const Change& change : changes) {
    if (!job::set_value(job.settings, change.knob, change.value)) return std::nullopt;
  }
  job::Settings checked = job.settings;
  checked.ranks = job.ranks;
  checked.device = job.on_gpu ? job::DeviceChoice::kCuda : job::DeviceChoice::kCpu;
  checked.inject = "off";
  checked.simulate_link = "off";
  if (!job::problems_of(checked).empty()) return std::nullopt;
  return job;
}

class Search {
 public:
  Search(const PlannedJob& job, std::int64_t usable_bytes)
      : job_(job), usable_bytes_(usable_bytes), possible_(possible_ways(job)) {}

  std::vector<Remedy> run() {
    if (predict_peak_bytes(job_) <= usable_bytes_) return {};
    for (const Way& way : possible_) consider(way);
    consider_batch({});
    if (remedies_.empty()) consider_pairs();
    return std::move(remedies_);
  }

 private:
  void consider(Way changes) {
    if (remedies_.size() >= kMostRemedies) return;
    const auto other = changed(job_, changes);
    if (!other) return;
    const std::int64_t peak = predict_peak_bytes(*other);
    if (peak <= usable_bytes_) remedies_.push_back({std::move(changes), peak});
  }

  // A smaller batch, beside other changes.
  void consider_batch(Way changes) {
    const auto other = changed(job_, changes);
    if (!other) return;
    const std::int64_t batch = largest_batch(*other, usable_bytes_);
    if (batch == 0 || batch >= job_.settings.batch_per_rank) return;
    changes.push_back({"batch_per_rank", std::to_string(batch)});
    consider(std::move(changes));
  }

  void consider_pairs() {
    for (std::size_t i = 0; i < possible_.size(); ++i) {
      const Way& first = possible_[i];
      for (std::size_t j = i + 1; j < possible_.size(); ++j) {
        if (first.front().knob != possible_[j].front().knob) consider(joined(first, possible_[j]));
      }
      if (first.front().knob == "sharding_strategy") consider_with_shards(first);
      if (remedies_.size() < kMostRemedies) consider_batch(first);
    }
  }

  // What only a strategy with units obeys.
  void consider_with_shards(const Way& strategy) {
    if (job::strategy_traits(job_.settings.sharding_strategy).has_units) return;
    consider(joined(strategy, {{"cpu_offload", "true"}}));
    if (job_.settings.precision == job::Precision::kFp32)
      consider(joined(strategy, {{"param_dtype", "bf16"}}));
  }

  static Way joined(Way first, const Way& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  const PlannedJob& job_;
  std::int64_t usable_bytes_;
  std::vector<Way> possible_;
  std::vector<Remedy> remedies_;
};

}  // namespace

std::string Remedy::text() const {
  return base::joined(changes, ", ",
                      [](const Change& change) { return change.knob + "=" + change.value; });
}

std::vector<Remedy> changes_that_would_fit(const PlannedJob& job, std::int64_t usable_bytes) {
  return Search(job, usable_bytes).run();
}

std::vector<Remedy> changes_that_would_fit(const Plan& plan) {
  const job::Strategy chosen = plan.request.settings.sharding_strategy;
  const auto at = std::ranges::find(plan.strategies, chosen, &StrategyPlan::strategy);
  if (at == plan.strategies.end() || !at->refused.empty() || at->fits()) return {};
  return changes_that_would_fit(planned_job(plan.request, chosen), plan.request.usable_bytes());
}

}  // namespace shardlens::trace::predict
