// What a GPT-2 block keeps for backward: norms, attention and MLP as in trainer/model/gpt2_model.
// Any thread.
#pragma once

#include "trace/predict/layers/block_backward.h"

namespace shardlens::trace::predict {

LayerMemory gpt2_block_memory(const LayerSizes& sizes, const BlockWeights& weights);

}  // namespace shardlens::trace::predict
