#include "trace/predict/plan/traffic_model.h"

#include <algorithm>

#include "trace/base/median.h"
#include "trace/base/text.h"
#include "trace/job/settings/grammars.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/model_units.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

namespace {

using job::RankGroup;

struct Transfer {
  model::CollectiveFunction function;
  std::string what;
  RankGroup group;
  std::int64_t element_bytes;
  std::int64_t values;  // over the whole group
  std::int64_t times = 1;
  std::string note = {};
};

class Traffic {
 public:
  explicit Traffic(const PlannedJob& job)
      : job_(job),
        sizes_(model_sizes(job.shape, job.settings)),
        bytes_(element_bytes(job.settings)),
        traits_(job::strategy_traits(job.settings.sharding_strategy)),
        micro_batches_(job.settings.gradient_accumulation_steps),
        reductions_(job.settings.sync_each_batch ? micro_batches_ : 1) {}

  TrafficPrediction predict() {
    traits_.has_units ? add_units() : add_buckets();
    return std::move(prediction_);
  }

 private:
  void add_buckets();
  void add_units();
  void add_gathers(const ShardSizes& shards, RankGroup group);
  void add(const Transfer& transfer);

  const PlannedJob& job_;
  ModelSizes sizes_;
  ElementBytes bytes_;
  const job::StrategyTraits& traits_;
  std::int64_t micro_batches_, reductions_;
  TrafficPrediction prediction_;
};

void Traffic::add(const Transfer& transfer) {
  const std::int64_t n = transfer.group.ranks;
  if (n <= 1 || transfer.values == 0) return;
  const bool is_all_reduce = transfer.function == model::CollectiveFunction::kAllReduce;
  const double part =
      static_cast<double>((is_all_reduce ? 2 : 1) * (n - 1)) / static_cast<double>(n);
  const double size = static_cast<double>(transfer.element_bytes * transfer.values);
  TrafficTerm term;
  term.function = transfer.function;
  term.what = transfer.what;
  term.bytes = static_cast<std::int64_t>(part * size * static_cast<double>(transfer.times));
  const bool runs_as_all_reduce =
      !job_.on_gpu && transfer.function == model::CollectiveFunction::kReduceScatter;
  term.executed_bytes = runs_as_all_reduce ? 2 * term.bytes : term.bytes;
  if (transfer.group.spans_nodes(job_.ranks_per_node)) {
    term.between_nodes = term.bytes / transfer.group.on_node(job_.ranks_per_node);
  }
  const std::string count = std::to_string(n);
  term.formula = std::string(is_all_reduce ? "2 x " : "") + "(" + count + " - 1) / " + count +
                 " x " + std::to_string(transfer.element_bytes) + " B x " +
                 base::grouped(transfer.values) + " values" +
                 (transfer.times > 1 ? " x " + std::to_string(transfer.times) + " times" : "") +
                 transfer.note;
  prediction_.terms.push_back(std::move(term));
}

void Traffic::add_buckets() {
  if (job_.settings.communication == job::Communication::kNone) return;
  const RankGroup all{job_.ranks};
  const std::int64_t trained = sizes_.trained_values();
  const bool compresses = job_.settings.communication_hook != job::CommunicationHook::kNone;
  add({model::CollectiveFunction::kAllReduce, "gradients", all, compresses ? 2 : 4, trained,
       reductions_});
  if (!traits_.shards_optimizer) return;
  add({model::CollectiveFunction::kBroadcast, "updated parameters", all, 4, trained, 1,
       " (each rank sends those that it updated)"});
}

void Traffic::add_units() {
  const ShardSizes shards = shard_sizes(job_, sizes_);
  const RankGroup shard_group{shards.group};
  const std::int64_t trained = shards.group * shards.trained_values();
  add_gathers(shards, shard_group);
  add({model::CollectiveFunction::kReduceScatter, "gradients", shard_group, bytes_.reduced, trained,
       reductions_});
  const RankGroup replicas{job_.ranks / shards.group, shards.group};
  add({model::CollectiveFunction::kAllReduce,
       shards.group > 1 ? "shards of gradients, across groups" : "gradients", replicas,
       bytes_.reduced, trained / shards.group, reductions_});
}

void Traffic::add_gathers(const ShardSizes& shards, RankGroup group) {
  std::int64_t forward = 0, backward = 0;  // bytes
  for (const UnitShard& each : shards.units) {
    const std::int64_t bytes =
        shards.group * (bytes_.gathered * each.trained + each.frozen.gathered);
    forward += bytes;
    if (&each != shards.units.data() && each.unit.has_backward) backward += bytes;
    // The block that it is a part of is computed again, and frees it again behind that.
    if (each.unit.is_recomputed) backward += bytes;
  }
  // Frozen weights travel as they are kept, 4-bit ones in 4 bits; what is counted is bytes then.
  const bool is_uniform = sizes_.is_uniform();
  const std::int64_t each = is_uniform ? bytes_.gathered : 1;
  const std::string note = is_uniform ? "" : " (bytes: frozen weights as they are kept)";
  // What is kept after forward stays until gradients have been reduced.
  const std::int64_t times = traits_.frees_after_forward ? micro_batches_ : reductions_;
  add({model::CollectiveFunction::kAllGather, "forward gathers", group, each, forward / each, times,
       note});
  if (!traits_.frees_after_forward) return;
  add({model::CollectiveFunction::kAllGather, "backward gathers", group, each, backward / each,
       times, note + (is_uniform ? " (the root stays gathered)" : "")});
}

}  // namespace

std::int64_t TrafficPrediction::bytes() const { return base::sum_of(terms, &TrafficTerm::bytes); }

std::int64_t TrafficPrediction::between_nodes() const {
  return base::sum_of(terms, &TrafficTerm::between_nodes);
}

std::int64_t TrafficPrediction::executed_bytes() const {
  return base::sum_of(terms, &TrafficTerm::executed_bytes);
}

TrafficPrediction predict_traffic(const PlannedJob& job) { return Traffic(job).predict(); }

}  // namespace shardlens::trace::predict
