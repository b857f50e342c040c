// Weights of which a token only reads a row: positions, token types, and the input embedding unless
// it is the output matrix, too. Nothing is multiplied with them. Any thread.
#pragma once

#include <cstdint>

#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::job {

// `parameter` is one of parameter_shapes(shape).
bool is_lookup_table(const ModelShape& shape, const ParameterShape& parameter);
std::int64_t lookup_values(const ModelShape& shape);

}  // namespace shardlens::trace::job
