#include "trace/predict/memory/kept_memory.h"

#include <algorithm>

#include "trace/job/shape/strategy.h"
#include "trace/predict/sizes/model_units.h"

namespace shardlens::trace::predict {

namespace {

// DDP's and ZeRO-1's: whole parameters and gradients, and buckets.
class ReplicatedMemory final : public KeptMemory {
 public:
  ReplicatedMemory(const PlannedJob& job, const ModelSizes& sizes, MemoryLedger& ledger)
      : KeptMemory(ledger),
        job_(job),
        sizes_(sizes),
        are_views_(job.settings.gradient_as_bucket_view),
        compresses_(job.settings.communication_hook != job::CommunicationHook::kNone),
        rebuilds_(job.settings.static_graph || !job.settings.find_unused_parameters),
        reductions_before_rebuild_(job.settings.static_graph ? 2 : 1) {}

  void hold_at_rest() override {
    ledger_.add(Holding::kParameters, sizes_.kept_bytes());
    ledger_.add(are_views_ ? Holding::kGradients : Holding::kBuckets, 4 * sizes_.trained_values());
    ledger_.add(Holding::kOptimizerState, optimizer_state(job_, sizes_).bytes);
  }

  void begin_forward(bool reduces, bool adds) override {
    // Buckets are built anew in the order in which gradients came, which the first reduction tells,
    // of a static graph the second; gradients that are there are copied over.
    if (are_views_ && rebuilds_ && adds && reductions_ == reductions_before_rebuild_) {
      ledger_.add_for_a_moment(Holding::kGradients, 4 * sizes_.trained_values());
    }
    reduces_ = reduces;
    reductions_ += reduces ? 1 : 0;
    adds_ = adds;
  }

  void keep_gradient(std::int64_t values) override {
    const std::int64_t bytes = 4 * values;
    ledger_.move(Holding::kFreshGradients, Holding::kGradients, bytes);
    // It is moved into its bucket, as trainer/strategy/ddp does in every backward, or added to what
    // is there.
    if (are_views_ || adds_) ledger_.remove(Holding::kGradients, bytes);
    if (compresses_ && reduces_) ledger_.add(Holding::kCompressed, 2 * values);
  }

  void end_backward() override { ledger_.remove_all(Holding::kCompressed); }

 private:
  const PlannedJob& job_;
  const ModelSizes& sizes_;
  bool are_views_, compresses_, rebuilds_;
  int reductions_before_rebuild_;
  int reductions_ = 0;
  bool reduces_ = true, adds_ = false;
};

}  // namespace

std::unique_ptr<KeptMemory> kept_memory(const PlannedJob& job, const ModelSizes& sizes,
                                        MemoryLedger& ledger) {
  if (job::strategy_traits(job.settings.sharding_strategy).has_units) {
    return unit_memory(job, sizes, ledger);
  }
  return std::make_unique<ReplicatedMemory>(job, sizes, ledger);
}

model::MemoryCategory category_of(Holding holding) {
  switch (holding) {
    case Holding::kParameters:
      return model::MemoryCategory::kParameters;
    case Holding::kGatheredRoot:
    case Holding::kGatheredUnits:
    case Holding::kGatherInputs:
      return model::MemoryCategory::kGatheredParameters;
    case Holding::kGradients:
    case Holding::kUnitGradients:
    case Holding::kGradientSums:
    case Holding::kReduceOutputs:
      return model::MemoryCategory::kGradients;
    case Holding::kOptimizerState:
      return model::MemoryCategory::kOptimizer;
    case Holding::kSavedByBlocks:
    case Holding::kSavedInputs:
    case Holding::kSavedByHead:
    case Holding::kFlowing:
    case Holding::kFreshGradients:
    case Holding::kTiedGradient:
    case Holding::kCastWeights:
    case Holding::kWorkspaces:  // first asked for within forward and backward
      return model::MemoryCategory::kActivations;
    case Holding::kBuckets:
    case Holding::kCompressed:
    case Holding::kReduceInputs:
      return model::MemoryCategory::kCommunication;
    case Holding::kBatch:
      return model::MemoryCategory::kOther;
  }
  return model::MemoryCategory::kOther;
}

void MemoryLedger::add(Holding holding, std::int64_t bytes) {
  const auto category = static_cast<std::size_t>(category_of(holding));
  held_[static_cast<std::size_t>(holding)] += bytes;
  categories_[category] += bytes;
  total_ += bytes;
  category_peaks_[category] = std::max(category_peaks_[category], categories_[category]);
  if (total_ <= peak_total_) return;
  peak_total_ = total_;
  at_peak_ = held_;
  peak_place_ = place_;
}

void MemoryLedger::remove(Holding holding, std::int64_t bytes) {
  held_[static_cast<std::size_t>(holding)] -= bytes;
  categories_[static_cast<std::size_t>(category_of(holding))] -= bytes;
  total_ -= bytes;
}

void MemoryLedger::move(Holding from, Holding to, std::int64_t bytes) {
  remove(from, bytes);
  add(to, bytes);
}

}  // namespace shardlens::trace::predict
