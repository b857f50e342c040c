#include "trainer/strategy/initial_values.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include "profiler/pytorch/torch_sources.h"

namespace shardlens::trainer::strategy {

namespace {

// DistributedDataParallel.broadcast_bucket_size
constexpr std::size_t kBroadcastBytes = 250u << 20;

}  // namespace

void broadcast_initial_values(comm::Communicator& world, const std::vector<torch::Tensor>& values) {
  // c10d asserts that there is one.
  if (values.empty()) return;
  world.set_default_tag(comm::named_tag("parameters"));
  const profiler::memory::MemoryCategoryScope category(
      trace::model::MemoryCategory::kCommunication);
  c10d::broadcast_coalesced(world.process_group(), values, kBroadcastBytes, 0);
}

}  // namespace shardlens::trainer::strategy
