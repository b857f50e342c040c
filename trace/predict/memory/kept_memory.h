// What a strategy keeps, gathers and reduces in the course of a step, and the count of it. Any
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "trace/model/events.h"
#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

// What memory is for, finer than its category.
enum class Holding : std::uint8_t {
  kParameters,      // whole, or this rank's shards
  kGatheredRoot,    //
  kGatheredUnits,   // but the root
  kGatherInputs,    // shards in the type in which they are gathered
  kGradients,       // whole, or this rank's shards
  kUnitGradients,   // whole ones of a unit that will be sharded
  kGradientSums,    // likewise, over micro-batches, in the type in which they are reduced
  kReduceOutputs,   //
  kOptimizerState,  //
  kSavedByBlocks,   // activations for backward
  kSavedInputs,     // of blocks that compute forward again
  kSavedByHead,     // last norm, head and loss
  kFlowing,         // gradients of activations, and what an operator needs for itself
  kFreshGradients,  // of parameters, just made
  kTiedGradient,    // of the embedding, from the head, until its own is there
  kCastWeights,     // autocast's, kept until forward ends
  kBuckets,         //
  kCompressed,      // buckets in 16 bits under way
  kReduceInputs,    // flat gradients of units under way
  kBatch,           //
  kWorkspaces,      // of cuBLAS
};
inline constexpr int kHoldingCount = 21;
model::MemoryCategory category_of(Holding);

// A moment of a step.
inline constexpr std::int64_t kRootBlock = -1;  // all that is in no block
struct StepPlace {
  enum class Part : std::uint8_t { kForward, kHead, kBackward };
  Part part = Part::kForward;
  std::int64_t block = kRootBlock;
};

// Keeps count of a rank's memory while a step is walked through, and of its peak.
class MemoryLedger {
 public:
  using Holdings = std::array<std::int64_t, kHoldingCount>;
  using Categories = std::array<std::int64_t, model::kMemoryCategoryCount>;

  void enter(StepPlace place) { place_ = place; }
  void add(Holding holding, std::int64_t bytes);
  void remove(Holding holding, std::int64_t bytes);
  void add_for_a_moment(Holding holding, std::int64_t bytes) {
    add(holding, bytes);
    remove(holding, bytes);
  }
  void move(Holding from, Holding to, std::int64_t bytes);
  void remove_all(Holding holding) { remove(holding, held(holding)); }
  std::int64_t held(Holding holding) const { return held_[static_cast<std::size_t>(holding)]; }

  std::int64_t peak_total() const { return peak_total_; }
  const Holdings& at_peak() const { return at_peak_; }
  StepPlace peak_place() const { return peak_place_; }
  const Categories& category_peaks() const { return category_peaks_; }

 private:
  StepPlace place_, peak_place_;
  Holdings held_{}, at_peak_{};
  Categories categories_{}, category_peaks_{};
  std::int64_t total_ = 0, peak_total_ = 0;
};

// What part of the model is meant is told by its parameters, in registration order over all blocks.
class KeptMemory {
 public:
  explicit KeptMemory(MemoryLedger& ledger) : ledger_(ledger) {}
  virtual ~KeptMemory() = default;

  virtual void hold_at_rest() = 0;
  // `reduces`: gradients are reduced after this micro-batch; `adds`: to gradients of an earlier
  // one.
  virtual void begin_forward(bool reduces, bool adds) = 0;
  virtual void enter_layers(ParameterRange) {}
  virtual void leave_layers(ParameterRange) {}
  virtual void begin_backward() {}
  virtual void enter_layers_backward(ParameterRange) {}
  // Forward again, before backward of a block that had kept nothing.
  virtual void recompute_layers(ParameterRange) {}
  // Backward has come to the layer of this parameter.
  virtual void use_parameter(int) {}
  // A gradient of so many values was made (kFreshGradients) and finds its place.
  virtual void keep_gradient(std::int64_t values) = 0;
  virtual void leave_layers_backward(ParameterRange) {}
  virtual void end_backward() = 0;

  // Bytes in the host's memory, of offloaded shards.
  virtual std::int64_t host_bytes() const { return 0; }

 protected:
  MemoryLedger& ledger_;
};

// What is passed outlives it.
std::unique_ptr<KeptMemory> kept_memory(const PlannedJob& job, const ModelSizes& sizes,
                                        MemoryLedger& ledger);
// Of strategies with units.
std::unique_ptr<KeptMemory> unit_memory(const PlannedJob& job, const ModelSizes& sizes,
                                        MemoryLedger& ledger);

}  // namespace shardlens::trace::predict
