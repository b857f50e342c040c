// What the layers of a model keep for backward, and what backward makes and frees, operator by
// operator, as the layers of the trainer are written. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct SavedTensors {
  std::string_view what;
  std::int64_t bytes = 0;
};

// One operator of backward. The gradient that flows between layers is there throughout.
struct BackwardOperator {
  std::int64_t made = 0;      // gradients of activations that it makes
  std::int64_t scratch = 0;   // gone when it ends
  std::int64_t consumed = 0;  // gradients of activations, freed when it ends
  std::int64_t released = 0;  // saved tensors, freed when it ends
  // Whose gradients appear: the layer's parameters in registration order, or of a block with
  // adapters these, A before B.
  int first_parameter = 0;
  int parameters = 0;
  // Of a block: the first of its layer's parameters, adapted, frozen or not; -1: it has none.
  int layer_parameter = -1;
  // Of a block: `consumed` has the gradient of the block's output, which it is the last to read.
  bool ends_output_gradient = false;
};

struct LayerMemory {
  std::vector<SavedTensors> saved;   // by forward
  std::int64_t input_bytes = 0;      // of what flows in
  bool saves_input = true;           // it is part of `saved`
  std::int64_t cast_weights = 0;     // autocast's copies of the weights, part of `saved`
  std::int64_t forward_scratch = 0;  // beside `saved`
  std::int64_t unsaved_scratch = 0;  // of a forward that saves nothing
  std::vector<BackwardOperator> backward;

  std::int64_t saved_bytes() const;
};

// A transformer block; a frozen one keeps no inputs of its matrices, but has the job's adapters.
LayerMemory block_memory(const PlannedJob& job, bool is_frozen);

// What the end of a model keeps for backward: the last norm, the output matrix and the loss, or a
// classifier's.
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
