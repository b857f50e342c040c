// What a Llama block keeps for backward: norms, attention and MLP as in trainer/model/llama_model.
// Any thread.
#pragma once

#include "trace/predict/layers/block_backward.h"

namespace shardlens::trace::predict {

LayerMemory llama_block_memory(const LayerSizes& sizes, const BlockWeights& weights);

}  // namespace shardlens::trace::predict
