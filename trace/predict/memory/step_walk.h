// Walks through one optimizer step as the trainer runs it and keeps count of memory. Any thread.
#pragma once

#include <memory>

#include "trace/predict/layers/layer_memory.h"
#include "trace/predict/memory/kept_memory.h"
#include "trace/predict/sizes/model_sizes.h"

namespace shardlens::trace::predict {

class StepWalk {
 public:
  // `job` outlives it.
  explicit StepWalk(const PlannedJob& job);

  // Once.
  const MemoryLedger& run();

  const ModelSizes& sizes() const { return sizes_; }
  const LayerMemory& trained_block() const { return trained_block_; }
  const LayerMemory& head() const { return head_.layer; }
  std::int64_t host_bytes() const { return kept_->host_bytes(); }

 private:
  // Backward comes to the block; else nothing is kept for it.
  bool has_backward(std::int64_t block) const {
    return flow_.comes_to(sizes_.block_parameters(block));
  }
  const LayerMemory& block(std::int64_t index) const {
    return index < sizes_.frozen_layers ? frozen_block_ : trained_block_;
  }
  std::int64_t saved_bytes(const LayerMemory& layer, std::int64_t index) const {
    return layer.saved_bytes() - spared(index);
  }
  std::int64_t spared(std::int64_t index) const { return index == 0 ? spared_ : 0; }
  void forward();
  void forward_block(std::int64_t index);
  void forward_head();
  void backward();
  void backward_head();
  void backward_block(std::int64_t index);
  void run_block_operator(const BackwardOperator& op);
  void backward_embeddings();
  void add_embedding_gradients();
  void use_layers(ParameterRange layers);
  // `fresh`: values of gradients of parameters that appear meanwhile.
  void run(const BackwardOperator& op, Holding saved, std::int64_t fresh);

  const PlannedJob& job_;
  ModelSizes sizes_;
  GradientFlow flow_;
  LayerMemory trained_block_, frozen_block_;
  HeadMemory head_;
  std::int64_t gradient_bytes_;       // per value
  std::int64_t saved_by_embeddings_;  // bytes
  std::int64_t spared_;               // bytes that the first block does not save
  MemoryLedger ledger_;
  std::unique_ptr<KeptMemory> kept_;
};

}  // namespace shardlens::trace::predict
