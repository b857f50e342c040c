#include "trace/predict/memory/memory_model.h"

#include "trace/predict/memory/memory_formulas.h"
#include "trace/predict/memory/step_walk.h"

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

}  // namespace

std::int64_t MemoryPrediction::total() const {
  std::int64_t sum = 0;
  for (const std::int64_t bytes : at_peak) sum += bytes;
  return sum;
}

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
