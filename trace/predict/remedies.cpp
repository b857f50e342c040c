#include "trace/predict/remedies.h"

#include <algorithm>
#include <optional>

#include "trace/model/strategy.h"
#include "trace/predict/memory_model.h"
#include "trace/predict/plan.h"

namespace shardlens::trace {

namespace {

using Change = Remedy::Change;

constexpr std::size_t kMostRemedies = 8;

// Each with what it costs least first: nothing, communication, computation, speed of the host's
// link, precision.
std::vector<Change> possible_changes(const PlannedJob& job) {
  const Settings& s = job.settings;
  const StrategyTraits& now = strategy_traits(s.sharding_strategy);
  std::vector<Change> changes;
  if (!now.has_units && !s.gradient_as_bucket_view) {
    changes.push_back({"gradient_as_bucket_view", "true"});
  }
  for (const StrategyTraits& traits : strategies()) {
    if (traits.name == now.name || job.ranks == 1) continue;
    // Within one machine the hybrid forms are the plain ones.
    if (traits.has_groups && job.ranks <= job.ranks_per_node) continue;
    if (traits.shards_optimizer) {
      changes.push_back({"sharding_strategy", std::string(traits.name)});
    }
  }
  for (const std::int64_t every : {2, 1}) {
    if (s.activation_checkpointing != 0 && every >= s.activation_checkpointing) continue;
    if (every < job.shape.layers || every == 1) {
      changes.push_back({"activation_checkpointing", std::to_string(every)});
    }
  }
  if (now.shards_parameters && !s.cpu_offload) changes.push_back({"cpu_offload", "true"});
  const bool computes_in_fp32 = s.precision == "fp32" && s.param_dtype == "auto";
  if (computes_in_fp32) changes.push_back({"precision", "bf16"});
  return changes;
}

std::optional<PlannedJob> changed(PlannedJob job, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (!set_value(job.settings, change.knob, change.value)) return std::nullopt;
  }
  Settings checked = job.settings;
  checked.ranks = job.ranks;
  checked.device = job.on_gpu ? "cuda" : "cpu";
  checked.inject = "off";
  checked.simulate_link = "off";
  if (!problems_of(checked).empty()) return std::nullopt;
  return job;
}

class Search {
 public:
  Search(const PlannedJob& job, std::int64_t usable_bytes)
      : job_(job), usable_bytes_(usable_bytes), possible_(possible_changes(job)) {}

  std::vector<Remedy> run() {
    if (predict_peak_bytes(job_) <= usable_bytes_) return {};
    for (const Change& change : possible_) consider({change});
    consider_batch({});
    if (remedies_.empty()) consider_pairs();
    return std::move(remedies_);
  }

 private:
  void consider(std::vector<Change> changes) {
    if (remedies_.size() >= kMostRemedies) return;
    const auto other = changed(job_, changes);
    if (!other) return;
    const std::int64_t peak = predict_peak_bytes(*other);
    if (peak <= usable_bytes_) remedies_.push_back({std::move(changes), peak});
  }

  // A smaller batch, beside other changes.
  void consider_batch(std::vector<Change> changes) {
    const auto other = changed(job_, changes);
    if (!other) return;
    const std::int64_t batch = largest_batch(*other, usable_bytes_);
    if (batch == 0 || batch >= job_.settings.batch_per_rank) return;
    changes.push_back({"batch_per_rank", std::to_string(batch)});
    consider(std::move(changes));
  }

  void consider_pairs() {
    for (std::size_t i = 0; i < possible_.size(); ++i) {
      for (std::size_t j = i + 1; j < possible_.size(); ++j) {
        if (possible_[i].knob != possible_[j].knob) consider({possible_[i], possible_[j]});
      }
      // Shards can be offloaded only once there are some.
      if (possible_[i].knob == "sharding_strategy")
        consider({possible_[i], {"cpu_offload", "true"}});
      if (remedies_.size() < kMostRemedies) consider_batch({possible_[i]});
    }
  }

  const PlannedJob& job_;
  std::int64_t usable_bytes_;
  std::vector<Change> possible_;
  std::vector<Remedy> remedies_;
};

}  // namespace

std::string Remedy::text() const {
  std::string text;
  for (const Change& change : changes) {
    text += (text.empty() ? "" : ", ") + change.knob + "=" + change.value;
  }
  return text;
}

std::vector<Remedy> changes_that_would_fit(const PlannedJob& job, std::int64_t usable_bytes) {
  return Search(job, usable_bytes).run();
}

}  // namespace shardlens::trace
