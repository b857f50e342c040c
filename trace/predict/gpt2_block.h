// What a GPT-2 block keeps for backward: norms, attention and MLP as in trainer/model/gpt2_model.
// Any thread.
#pragma once

#include "trace/predict/layer_memory.h"
#include "trace/predict/layer_sizes.h"

namespace shardlens::trace {

LayerMemory gpt2_block_memory(const LayerSizes& sizes, bool is_frozen);

}  // namespace shardlens::trace
