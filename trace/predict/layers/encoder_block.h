// What a BERT or RoBERTa block keeps for backward: as in trainer/model/encoder_classifier, where
// norms come after what they normalise. Any thread.
#pragma once

#include "trace/predict/layers/block_backward.h"

namespace shardlens::trace::predict {

LayerMemory encoder_block_memory(const LayerSizes& sizes, const BlockWeights& weights);

// What the norm and the dropout of the embeddings keep.
std::int64_t encoder_embeddings_memory(const LayerSizes& sizes);

}  // namespace shardlens::trace::predict
