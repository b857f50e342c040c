// Where a model's initial values come from, range by range, so that a rank reads only what it
// keeps. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "trace/base/result.h"

namespace shardlens::trainer::model {

class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  // Fills `into`, contiguous and of any floating-point type and device, with the elements
  // [begin, begin + into.numel()) of the flattened parameter `name` (the model's name for it; of a
  // shared one the first). Touches no more of the files than these elements.
  virtual trace::base::Result<void> read(const std::string& name, std::int64_t begin,
                                         const torch::Tensor& into) = 0;
};

}  // namespace shardlens::trainer::model
