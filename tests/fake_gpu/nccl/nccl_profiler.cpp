#include "tests/fake_gpu/nccl/nccl_profiler.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace shardlens::fake_gpu {
namespace {

using profiler::nccl::Profiler;

const Profiler* find_plugin() {
  const char* name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name == nullptr) return nullptr;
  const bool is_static = std::string_view(name) == "STATIC_PLUGIN";
  void* library = dlopen(is_static ? nullptr : name, RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr
                            : static_cast<const Profiler*>(dlsym(library, "ncclProfiler_v5"));
}

const Profiler* plugin() {
  static const Profiler* found = find_plugin();
  return found;
}

// One for all communicators, as in NCCL.
int mask = 0;

}  // namespace

ProfiledCommunicator::ProfiledCommunicator(std::uint64_t id, int ranks, int rank, const char* name)
    : rank_(rank) {
  if (plugin() != nullptr) plugin()->init(&context_, id, &mask, name, 1, ranks, rank, nullptr);
}

ProfiledCommunicator::~ProfiledCommunicator() {
  if (plugin() != nullptr) plugin()->finalize(context_);
}

void* ProfiledCommunicator::start(profiler::nccl::Event event) {
  if (plugin() == nullptr || (event.type & static_cast<std::uint64_t>(mask)) == 0) return nullptr;
  event.rank = rank_;
  void* handle = nullptr;
  plugin()->start_event(context_, &handle, &event);
  return handle;
}

void ProfiledCommunicator::stop(void* handle) {
  if (handle != nullptr) plugin()->stop_event(handle);
}

profiler::nccl::Event ProfiledCommunicator::of_type(std::uint64_t type) {
  profiler::nccl::Event event;
  std::memset(&event, 0, sizeof event);
  event.type = type;
  return event;
}

}  // namespace shardlens::fake_gpu
