#include "profiler/nccl/nccl_communicator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/base/checksum.h"

namespace shardlens::profiler::nccl {
namespace {

// Any odd number: it sets a communicator's second group apart from all first ones.
constexpr std::uint64_t kOfGraphs = 0x9e37'79b9'7f4a'7c15;

}  // namespace

int nccl_group_id(std::uint64_t communicator_hash, NcclGroup which) {
  const std::uint64_t hash =
      which == NcclGroup::kCalls ? communicator_hash : communicator_hash * kOfGraphs + 1;
  const std::uint64_t folded = (hash ^ (hash >> 32)) & 0x3fff'ffff;
  return static_cast<int>(folded | kFirstNcclGroup);
}

void announce_group(recorder::Recorder& recorder, const NcclCommunicator& communicator,
                    NcclGroup which, int rank) {
  std::string text = "nccl" + trace::base::checksum_text(communicator.hash);
  if (!communicator.name.empty()) text += " (" + communicator.name + ")";
  if (which == NcclGroup::kGraphs) text += ", in CUDA graphs";
  std::vector<int> ranks(static_cast<std::size_t>(std::max(1, communicator.ranks)),
                         trace::model::kNotKnown);
  ranks.back() = rank;
  recorder.add_process_group(nccl_group_id(communicator.hash, which), text, "nccl",
                             std::move(ranks));
}

}  // namespace shardlens::profiler::nccl
