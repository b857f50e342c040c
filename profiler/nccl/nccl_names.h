// What NCCL's texts for functions and data types mean. Any thread; never allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/model/events.h"

namespace shardlens::profiler::nccl {

// From "AllReduce", "Send", …
trace::model::CollectiveFunction nccl_function(std::string_view name);

struct NcclType {
  std::string_view name;   // "bfloat16", as Python writes it
  std::int64_t bytes = 1;  // of a value
};
// From "ncclBfloat16", …
NcclType nccl_type(std::string_view name);

// S of nccl-tests from the count that the caller gave: the total over ranks for gather and scatter,
// where the count is that of one rank's part.
std::int64_t nccl_bytes(trace::model::CollectiveFunction function, std::size_t count,
                        std::int64_t type_bytes, int ranks);

}  // namespace shardlens::profiler::nccl
