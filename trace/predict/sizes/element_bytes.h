// How many bytes a value takes, by what it is for. Any thread.
#pragma once

#include <cstdint>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::predict {

struct ElementBytes {
  std::int64_t master = 4;    // parameters, or their shards, that the optimizer updates
  std::int64_t gathered = 4;  // parameters as they are computed with, and their gradients
  std::int64_t reduced = 4;   // gradients while they are reduced
  // Gradients of micro-batches are added up in the type in which they are reduced, another one than
  // that in which they are made.
  bool adds_as_reduced = false;
  std::int64_t residual = 4;  // between layers
  std::int64_t product = 4;   // what matrix products take and give
  bool autocast = false;      // weights are cast for each product
};

ElementBytes element_bytes(const job::Settings& settings);

}  // namespace shardlens::trace::predict
