#include "profiler/nccl/nccl_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace shardlens::profiler::nccl {
namespace {

using trace::model::CollectiveFunction;

constexpr std::array<std::pair<std::string_view, CollectiveFunction>, 8> kFunctions{{
    {"AllReduce", CollectiveFunction::kAllReduce},
    {"AllGather", CollectiveFunction::kAllGather},
    {"ReduceScatter", CollectiveFunction::kReduceScatter},
    {"Broadcast", CollectiveFunction::kBroadcast},
    {"Reduce", CollectiveFunction::kReduce},
    {"Send", CollectiveFunction::kSend},
    {"Recv", CollectiveFunction::kReceive},
    {"AlltoAll", CollectiveFunction::kAllToAll},
}};

constexpr std::array<std::pair<std::string_view, NcclType>, 11> kTypes{{
    {"ncclInt8", {"int8", 1}},
    {"ncclInt32", {"int32", 4}},
    {"ncclUint32", {"uint32", 4}},
    {"ncclInt64", {"int64", 8}},
    {"ncclUint64", {"uint64", 8}},
    {"ncclFloat16", {"float16", 2}},
    {"ncclFloat32", {"float32", 4}},
    {"ncclFloat64", {"float64", 8}},
    {"ncclBfloat16", {"bfloat16", 2}},
    {"ncclFloat8e4m3", {"float8_e4m3fn", 1}},
    {"ncclFloat8e5m2", {"float8_e5m2", 1}},
}};

}  // namespace

CollectiveFunction nccl_function(std::string_view name) {
  const auto found =
      std::ranges::find(kFunctions, name, [](const auto& entry) { return entry.first; });
  return found == kFunctions.end() ? CollectiveFunction::kOther : found->second;
}

NcclType nccl_type(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, [](const auto& entry) { return entry.first; });
  // NCCL has no text for ncclUint8 alone (ncclDatatypeToString gives "Unknown").
  return found == kTypes.end() ? NcclType{"uint8", 1} : found->second;
}

std::int64_t nccl_bytes(CollectiveFunction function, std::size_t count, std::int64_t type_bytes,
                        int ranks) {
  const std::int64_t bytes = static_cast<std::int64_t>(count) * type_bytes;
  switch (function) {
    case CollectiveFunction::kAllGather:
    case CollectiveFunction::kReduceScatter:
    case CollectiveFunction::kAllToAll:
      return bytes * ranks;
    default:
      return bytes;
  }
}

}  // namespace shardlens::profiler::nccl
