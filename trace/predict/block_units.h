// The units within one transformer block, as trainer/fsdp/unit_plan chooses them. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/model_shape.h"
#include "trace/model/settings.h"

namespace shardlens::trace {

// The block's parameters from `first` to before `end`, in registration order. Units nest: of two,
// one lies within the other, or beside it.
struct BlockUnit {
  int first = 0, end = 0;
  // Of its parameters that are in no unit within, and of the adapters beside them.
  std::int64_t values = 0, adapters = 0;

  bool contains(int parameter) const { return parameter >= first && parameter < end; }
};

// In the order in which forward enters them: a unit before those within it. Empty: all of the block
// belongs to the root.
std::vector<BlockUnit> block_units(const ModelShape& shape, const Settings& settings);

}  // namespace shardlens::trace
