#include "trace/predict/memory/memory_model.h"

#include "trace/base/median.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/memory/step_walk.h"
#include "trace/predict/sizes/model_units.h"

namespace shardlens::trace::predict {

namespace {

std::string name_of(const StepPlace& place) {
  using Part = StepPlace::Part;
  const std::string block = "blocks." + std::to_string(place.block);
  switch (place.part) {
    case Part::kForward:
      return "forward of " + block;
    case Part::kHead:
      return "head and loss";
    case Part::kBackward:
      return place.block == kRootBlock ? "end of backward" : "backward of " + block;
  }
  return "";
}

std::string one_decimal(double value) { return base::formatted("%.1f", value); }

std::string divided_by(std::int64_t ranks) { return " / " + std::to_string(ranks) + " ranks"; }

std::string times(std::int64_t bytes_each, std::int64_t count, const std::string& what) {
  return std::to_string(bytes_each) + " B x " + base::grouped(count) + " " + what;
}

// The formulas behind predicted bytes, with the numbers put in, as hovering over a cell shows them.
class MemoryFormulas {
 public:
  // Both outlive it.
  MemoryFormulas(const PlannedJob& job, const StepWalk& walk)
      : job_(job),
        walk_(walk),
        bytes_(element_bytes(job.settings)),
        shards_(shard_sizes(job, walk.sizes())),
        has_units_(job::strategy_traits(job.settings.sharding_strategy).has_units),
        is_divided_(has_units_ && shards_.group > 1) {}

  std::string of(Holding holding, std::int64_t bytes) const {
    switch (category_of(holding)) {
      case model::MemoryCategory::kActivations:
        return activations(holding, bytes);
      case model::MemoryCategory::kGatheredParameters:
        return units(holding, bytes);
      case model::MemoryCategory::kGradients:
        return holding == Holding::kGradients ? gradients(bytes) : units(holding, bytes);
      case model::MemoryCategory::kCommunication:
        return holding == Holding::kReduceInputs ? units(holding, bytes) : at_rest(holding);
      default:
        return at_rest(holding);
    }
  }

  std::string of_host() const {
    const bool has_moments = job_.settings.optimizer == job::OptimizerChoice::kAdamW;
    return times(has_moments ? 16 : 8, walk_.sizes().trained_values(), "trained parameters") +
           divided_by(shards_.group) +
           (has_moments ? " (shard, gradient, two moments)" : " (shard, gradient)");
  }

 private:
  std::string at_rest(Holding holding) const {
    const std::int64_t trained = walk_.sizes().trained_values();
    switch (holding) {
      case Holding::kParameters:
        return parameters();
      case Holding::kOptimizerState:
        return optimizer();
      case Holding::kBuckets:
        return times(4, trained, "trained parameters (buckets)");
      case Holding::kCompressed:
        return "up to " + times(2, trained, "trained parameters (buckets in 16 bits under way)");
      default:
        return times(16, job_.tokens(), "tokens (inputs and targets)");
    }
  }

  std::string units(Holding holding, std::int64_t bytes) const {
    const auto blocks = [&](std::int64_t bytes_each) {
      const std::int64_t values = shards_.trained_in_block();
      if (values == 0 || !shards_.are_of_blocks()) {
        return times(bytes_each, bytes / bytes_each, "parameters");
      }
      const double count = static_cast<double>(bytes) / static_cast<double>(bytes_each * values);
      return one_decimal(count) + " blocks x " + times(bytes_each, values, "parameters");
    };
    if (!walk_.sizes().is_uniform()) {
      if (holding == Holding::kGatheredRoot) return base::grouped(bytes) + " B of the root unit";
      if (holding == Holding::kGatheredUnits) {
        return base::grouped(bytes) + " B of " +
               (shards_.are_of_blocks() ? "blocks" : "other units") +
               ", frozen weights as they are kept (gathered, or being so)";
      }
    }
    switch (holding) {
      case Holding::kGatheredRoot:
        return times(bytes_.gathered, shards_.root().trained,
                     shards_.units.size() > 1 ? "parameters of the root unit" : "parameters");
      case Holding::kGatheredUnits:
        return blocks(bytes_.gathered) + " (gathered, or being so)";
      case Holding::kGatherInputs:
        return "shards of units on their way into a gather, " + base::grouped(bytes) + " B";
      case Holding::kUnitGradients:
        return blocks(bytes_.gathered) + " (gradients, not reduced yet)";
      case Holding::kGradientSums:
        return blocks(bytes_.reduced) + " (gradients of micro-batches, added up as reduce_dtype)";
      case Holding::kReduceOutputs:
        return base::grouped(bytes) + " B of reduced gradients under way";
      default:
        return blocks(bytes_.reduced) + " (flat gradients being reduced)";
    }
  }

  std::string activations(Holding holding, std::int64_t bytes) const {
    const job::ModelShape& shape = job_.shape;
    switch (holding) {
      case Holding::kSavedByBlocks:
        return saved_by_blocks(bytes);
      case Holding::kSavedByHead:
        return saved_by_head();
      case Holding::kSavedInputs:
        return "inputs of " +
               one_decimal(static_cast<double>(bytes) /
                           static_cast<double>(walk_.trained_block().input_bytes)) +
               " blocks x " + base::grouped(job_.tokens()) + " tokens x " +
               std::to_string(shape.width) + " x " + std::to_string(bytes_.residual) + " B";
      case Holding::kWorkspaces:
        return "2 threads x " + base::grouped(job_.workspace_bytes) + " B that cuBLAS works in";
      case Holding::kFreshGradients:
        return base::grouped(bytes) + " B of a gradient just made";
      case Holding::kTiedGradient:
        return times(bytes_.gathered, walk_.sizes().head,
                     "values (the head's gradient, kept for "
                     "the embedding's)");
      case Holding::kCastWeights:
        return base::grouped(bytes) + " B of weights in 16 bits, kept until forward ends";
      default:
        return base::grouped(bytes) + " B between operators";
    }
  }

  std::string parameters() const {
    const ModelSizes& sizes = walk_.sizes();
    if (!sizes.is_uniform()) {
      return times(4, sizes.trained_values(), "trained parameters") + " + " +
             base::grouped(sizes.frozen_bytes()) + " B of frozen ones" +
             (is_divided_ ? divided_by(shards_.group) + " (shards)" : "");
    }
    const std::string whole = times(4, sizes.all_values(), "parameters");
    return is_divided_ ? whole + divided_by(shards_.group) + " (shard)" : whole;
  }

  std::string gradients(std::int64_t bytes) const {
    const std::int64_t trained = walk_.sizes().trained_values();
    if (job_.settings.gradient_as_bucket_view && !has_units_) {
      return times(4, trained, "trained parameters (buckets are the gradients)");
    }
    const std::int64_t all = 4 * (is_divided_ ? shards_.trained_values() : trained);
    const std::string whole = times(4, trained, "trained parameters") +
                              (is_divided_ ? divided_by(shards_.group) + " (shard)" : "");
    if (bytes >= all) return whole;
    return one_decimal(100.0 * static_cast<double>(bytes) / static_cast<double>(all)) + " % of " +
           whole + ", there by then";
  }

  std::string optimizer() const {
    const OptimizerState state = optimizer_state(job_, walk_.sizes());
    const std::string counters =
        " + " + times(4, state.tensors, "tensors") + " (AdamW: two moments, a counter of steps)";
    if (has_units_ || !job::strategy_traits(job_.settings.sharding_strategy).shards_optimizer) {
      return times(8, walk_.sizes().trained_values(), "trained parameters") +
             (is_divided_ ? divided_by(shards_.group) : "") + counters;
    }
    return times(8, state.values, "parameters of the rank that updates most") + ", of " +
           base::grouped(walk_.sizes().trained_values()) + divided_by(job_.ranks) + counters;
  }

  std::string saved_by_blocks(std::int64_t bytes) const {
    const LayerMemory& block = walk_.trained_block();
    std::string parts;
    for (const SavedTensors& saved : block.saved) {
      if (saved.bytes == 0) continue;
      parts += (parts.empty() ? "" : ", ") + std::string(saved.what) + " " +
               base::grouped(saved.bytes / job_.tokens());
    }
    const double whole = static_cast<double>(block.saved_bytes());
    return one_decimal(static_cast<double>(bytes) / whole) + " blocks x " +
           base::grouped(job_.tokens()) + " tokens x " +
           base::grouped(block.saved_bytes() / job_.tokens()) + " B (" + parts + ")";
  }

  std::string saved_by_head() const {
    const LayerMemory& head = walk_.head();
    if (job::is_encoder(job_.shape.layout)) {
      return base::grouped(job_.tokens()) + " tokens x " + std::to_string(2 * bytes_.residual) +
             " B x " + std::to_string(job_.shape.width) +
             " (the embeddings' norm and the last block's output)";
    }
    if (const std::int64_t chunk = job_.loss_chunk(); chunk > 0) {
      return base::grouped(job_.tokens()) + " tokens x " + std::to_string(2 * bytes_.residual) +
             " B x " + std::to_string(job_.shape.width) + " + " +
             times(4, walk_.sizes().head, "values") +
             " (gradients of the head, made with the loss in chunks of " + base::grouped(chunk) +
             " tokens)";
    }
    return base::grouped(job_.tokens()) + " tokens x (4 B x " +
           base::grouped(job_.shape.vocabulary) + " log-probabilities, " +
           std::to_string(bytes_.residual + bytes_.product) + " B x " +
           std::to_string(job_.shape.width) + ")" +
           (head.cast_weights > 0 ? " + weights of the head in 16 bits" : "");
  }

  const PlannedJob& job_;
  const StepWalk& walk_;
  ElementBytes bytes_;
  ShardSizes shards_;
  bool has_units_, is_divided_;
};

}  // namespace

std::int64_t MemoryPrediction::total() const { return base::sum_of(at_peak); }

MemoryPrediction predict_memory(const PlannedJob& job) {
  StepWalk walk(job);
  const MemoryLedger& ledger = walk.run();
  MemoryPrediction prediction;
  prediction.category_peaks = ledger.category_peaks();
  prediction.peak_place = name_of(ledger.peak_place());
  prediction.host_bytes = walk.host_bytes();
  const MemoryFormulas formulas(job, walk);
  for (int i = 0; i < kHoldingCount; ++i) {
    const auto holding = static_cast<Holding>(i);
    const std::int64_t bytes = ledger.at_peak()[static_cast<std::size_t>(i)];
    if (bytes == 0) continue;
    const model::MemoryCategory category = category_of(holding);
    prediction.at_peak[static_cast<std::size_t>(category)] += bytes;
    prediction.terms.push_back({category, bytes, formulas.of(holding, bytes)});
  }
  if (prediction.host_bytes > 0) prediction.host_formula = formulas.of_host();
  return prediction;
}

std::int64_t predict_peak_bytes(const PlannedJob& job) { return StepWalk(job).run().peak_total(); }

}  // namespace shardlens::trace::predict
