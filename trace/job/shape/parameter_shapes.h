// The parameter tensors of a model, without a model: what is sharded, bucketed and planned for.
// Plain values, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

struct ParameterShape {
  static constexpr int kRoot = -1;

  std::string name;  // Hugging Face's
  std::vector<std::int64_t> sizes;
  int block = kRoot;  // the transformer block it is in, or kRoot

  std::int64_t numel() const;
};

// In registration order, shared ones once under their first name.
std::vector<ParameterShape> parameter_shapes(const ModelShape& shape);

}  // namespace shardlens::trace::job
