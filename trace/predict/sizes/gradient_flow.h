// Through which layers of a model gradients flow. With adapters backward does not come to what lies
// in front of the first of them, nor to what stands beside it. Any thread.
#pragma once

#include <cstdint>

#include "trace/predict/sizes/model_sizes.h"

namespace shardlens::trace::predict {

// Parameters are those of the whole model, in registration order.
class GradientFlow {
 public:
  // `sizes` outlives it.
  explicit GradientFlow(const ModelSizes& sizes);

  // Whether backward goes on from the layer that owns the parameter: its input needs a gradient.
  // Tokens have none.
  bool goes_on_from(int parameter) const;
  // Whether backward comes to a module that has these parameters and no others: some are trained,
  // or it goes on from there.
  bool comes_to(ParameterRange parameters) const;

 private:
  bool trains(ParameterRange parameters) const;
  bool is_fed_in_block(int parameter, std::int64_t block) const;

  const ModelSizes& sizes_;
  bool trains_tables_;
  std::int64_t first_block_ = 0;  // that trains something; as many as there are: none does
};

}  // namespace shardlens::trace::predict
