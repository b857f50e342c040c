// The layers of a model in the order in which forward goes through them; backward comes to them the
// other way round. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/model_units.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct OrderedLayer {
  enum class What : std::uint8_t {
    kModule,  // owns parameters
    kOther,   // owns none: attention, the product with a tied embedding
    // Behind a block to which backward comes: where that computes its forward again, if it does.
    kSecondForward,
  };
  What what = What::kModule;
  ParameterRange parameters;  // of the whole model, in registration order
  std::int64_t block = -1;    // −1: in none
  // Operations per token, as under MFU: of a loss that is computed in chunks forward has the head's
  // backward, too.
  double forward = 0, backward = 0;
};

std::vector<OrderedLayer> layer_order(const PlannedJob& job);

// Places of a unit's layers, from `first` to before `end`: a block's with what it computes again.
struct LayerSpan {
  std::size_t first = 0, end = 0;
};
LayerSpan layers_of(const ModelUnit& unit, const std::vector<OrderedLayer>& order);

// Whether backward, where it comes to the block, computes its forward again.
bool is_recomputed(const job::Settings& settings, std::int64_t block);

}  // namespace shardlens::trace::predict
