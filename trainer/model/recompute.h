// Activation checkpointing: a layer keeps only its input and computes its forward again when
// backward needs what lies between. The training thread and autograd's.
#pragma once

#include <cstdint>

#include "trainer/model/model.h"

namespace shardlens::trainer::model {

// Gradients are bit-identical: the second forward has the first one's random numbers and autocast.
// Layers inside may recompute, too. After it was decided which parameters are trained.
void recompute_in_backward(Layer& layer);

// Every n-th block, starting with the first; 0: none.
void recompute_every_nth_block(Model& model, std::int64_t n);

}  // namespace shardlens::trainer::model
