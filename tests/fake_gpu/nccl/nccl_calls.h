// A collective as NCCL carries it out: what a plugin is told, which kernel runs, what it moves. Any
// thread; groups belong to the thread that opened them.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "tests/fake_gpu/nccl/nccl_profiler.h"
#include "tests/fake_gpu/nccl/rendezvous.h"

struct ncclComm {
  std::shared_ptr<shardlens::fake_gpu::Rendezvous> ranks;
  std::unique_ptr<shardlens::fake_gpu::ProfiledCommunicator> profiled;
  int device = 0;
  int splits = 0;
  std::map<std::string, std::uint64_t> sequences;
  bool was_captured = false;  // a graph has some of its calls
};

namespace shardlens::fake_gpu {

struct NcclCall {
  ncclComm_t communicator;
  std::string function;
  const char* kernel;
  std::size_t count;  // as the caller gave it
  ncclDataType_t type;
  double parts;  // how many times the count goes through a rank's link
  const void* send;
  void* receive;
  int root;
  cudaStream_t stream;
  bool is_point_to_point;
  void* handle = nullptr;  // the plugin's, of the call
};

// At once or, within a group, once the outermost ends.
ncclResult_t enter(NcclCall call);
void start_group();
ncclResult_t end_group();

}  // namespace shardlens::fake_gpu
