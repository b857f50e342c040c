#include <memory>

#include "profiler/torch/collective_tag.h"
#include "profiler/torch/torch_sources.h"

namespace shardlens::profiler {

struct CollectiveScope::State {
  explicit State(std::uint64_t handle)
      : guard(kCollectiveTagKind, std::make_shared<CollectiveTagInfo>(handle)) {}
  c10::DebugInfoGuard guard;
};

CollectiveScope::CollectiveScope(std::uint64_t handle) : state_(std::make_unique<State>(handle)) {}
CollectiveScope::~CollectiveScope() = default;

}  // namespace shardlens::profiler
