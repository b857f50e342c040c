// What the end of a model keeps for backward: the last norm, the output matrix and the loss, or a
// classifier's. Any thread.
#pragma once

#include <cstddef>

#include "trace/predict/layers/layer_memory.h"

namespace shardlens::trace::predict {

// The gradient of the output matrix is made in `head_operator` of `layer.backward`; the parameters
// are the last norm's alone. Backward leaves the gradient that flows between layers.
struct HeadMemory {
  LayerMemory layer;
  std::size_t head_operator = 0;
  // The loss by chunks hands its gradient over as a tensor of its own, to which autograd adds the
  // embedding's where both share a matrix. That of a product is a view, which needs a new sum.
  bool gradient_is_added_to = false;
};
HeadMemory head_memory(const PlannedJob& job);

}  // namespace shardlens::trace::predict
