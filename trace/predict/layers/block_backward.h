// The operators of a transformer block's backward, put together layer by layer: what its matrices,
// and adapters beside them, make and free. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/predict/layers/layer_memory.h"
#include "trace/predict/sizes/layer_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

// What a low-rank adapter beside a block's layer keeps for backward, and makes in it, in bytes.
struct AdaptedLayer {
  std::string layer;         // within its block: "attn.c_attn"
  std::int64_t input = 0;    // of the layer, in the type that is computed in
  std::int64_t between = 0;  // both factors
  std::int64_t output = 0;   // of the layer
  // By forward: what lies between the factors, an input that nobody else keeps, dropout's mask, and
  // under autocast the factors in 16 bits.
  std::int64_t saved = 0;
};
// Of one block, in registration order; none where no adapters are trained.
std::vector<AdaptedLayer> adapter_memory(const PlannedJob& job);

// Bytes that the first block does not keep where adapters are trained, since its input needs no
// gradient: by its first norm, and under autocast of the matrices that multiply that input.
std::int64_t spared_by_first_block(const PlannedJob& job);

// How a block's weights are kept and trained.
struct BlockWeights {
  bool is_frozen = false;
  // Bytes per value of a frozen matrix while it is expanded for a product, and once it is; 0: it is
  // used as it is kept.
  std::int64_t while_expanding = 0, expanded = 0;
  std::vector<AdaptedLayer> adapters;
};

// A layer that multiplies by a matrix.
struct BlockProduct {
  std::string_view layer;   // within its block: "attn.c_attn"
  std::int64_t values = 0;  // of the matrix
  int first_parameter = 0;  // of the block, in registration order
  int parameters = 2;       // the matrix and its bias
};

class BlockBackward {
 public:
  // Both outlive it.
  BlockBackward(const LayerSizes& sizes, const BlockWeights& weights)
      : sizes_(sizes), weights_(weights) {}

  // Bytes that only gradients of the block's own parameters need: 0 where these are frozen.
  std::int64_t if_trained(std::int64_t bytes) const { return weights_.is_frozen ? 0 : bytes; }

  void add(const BackwardOperator& op) { operators_.push_back(op); }
  // Gradients of the block's parameters appear meanwhile, unless they are frozen.
  void add(BackwardOperator op, int first_parameter, int parameters);
  // `op` makes the gradient of the layer's input of that of its output. Under autocast the copy of
  // the matrix in 16 bits goes with it, and the matrix's gradient is made so and cast.
  void add_product(BackwardOperator op, const BlockProduct& product);

  // From the gradient of an MLP's output, dropped out or not, to that of its input, in the type
  // that is computed in: `last`, the activation, `first`.
  void add_mlp(const BlockProduct& last, const BlockProduct& first);

  std::vector<BackwardOperator> take() { return std::move(operators_); }

 private:
  const AdaptedLayer* add_adapter(const BlockProduct& product);

  const LayerSizes& sizes_;
  const BlockWeights& weights_;
  std::vector<BackwardOperator> operators_;
};

// What attention keeps besides its queries, keys and values; `kept_input`: bytes that the matrix
// behind it keeps of its input.
std::int64_t attention_result(const LayerSizes& sizes, std::int64_t kept_input);

// What a block keeps for backward: norms, attention and MLP as in trainer/model; of BERT and
// RoBERTa norms come after what they normalise.
LayerMemory gpt2_block_memory(const LayerSizes& sizes, const BlockWeights& weights);
LayerMemory llama_block_memory(const LayerSizes& sizes, const BlockWeights& weights);
LayerMemory encoder_block_memory(const LayerSizes& sizes, const BlockWeights& weights);
// What the norm and the dropout of an encoder's embeddings keep.
std::int64_t encoder_embeddings_memory(const LayerSizes& sizes);

}  // namespace shardlens::trace::predict
