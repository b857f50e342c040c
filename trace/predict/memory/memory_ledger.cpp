#include "trace/predict/memory/memory_ledger.h"

#include <algorithm>

namespace shardlens::trace::predict {

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
