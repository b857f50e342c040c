// What NCCL tells its profiler plugin, for which the program or a library that NCCL_PROFILER_PLUGIN
// names is asked as NCCL does. Null handles where there is none. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profiler/nccl/profiler_abi.h"

namespace shardlens::fake_gpu {

// One communicator, as a plugin knows it.
class ProfiledCommunicator {
 public:
  ProfiledCommunicator(std::uint64_t id, int ranks, int rank, const char* name);
  ~ProfiledCommunicator();
  ProfiledCommunicator(const ProfiledCommunicator&) = delete;
  ProfiledCommunicator& operator=(const ProfiledCommunicator&) = delete;

  void* start(profiler::nccl::Event event);
  static void stop(void* handle);
  static profiler::nccl::Event of_type(std::uint64_t type);

 private:
  int rank_;
  void* context_ = nullptr;
};

}  // namespace shardlens::fake_gpu
