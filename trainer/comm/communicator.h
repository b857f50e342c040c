// The only way in which the trainer talks to other ranks: a c10d process group whose collectives
// are entered in the recorder with function, bytes, tag and sequence. The training thread, and
// autograd's threads through hooks.
#pragma once

#include <torch/torch.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "profiler/recorder.h"
#include "trace/model/result.h"
#include "trace/model/schedule.h"

namespace shardlens::trainer {

struct CommunicatorOptions {
  int rank = 0;
  int world_size = 1;
  torch::Device device = torch::kCPU;
  std::chrono::seconds timeout{600};
  std::optional<trace::SimulatedLink> simulated_link;  // CPU only
  // Where ranks meet: a file of this run (our launcher), or torchrun's store if empty.
  std::string store_file;
  std::string master_address;
  int master_port = 0;
  bool agent_store = false;  // TORCHELASTIC_USE_AGENT_STORE: connect as a client, also rank 0
};

struct CollectiveTag {
  trace::TagKind kind = trace::TagKind::kNone;
  int index = -1;
  std::string name;
};

class Communicator {
 public:
  static trace::Result<std::unique_ptr<Communicator>> connect(const CommunicatorOptions& options,
                                                              profiler::Recorder& recorder);
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual c10::intrusive_ptr<c10d::ProcessGroup> process_group() = 0;

  // Asynchronous; each enters the recorder and is tagged. In place on `tensor`.
  virtual c10::intrusive_ptr<c10d::Work> all_reduce(
      torch::Tensor tensor, CollectiveTag tag,
      c10d::ReduceOp::RedOpType operation = c10d::ReduceOp::SUM) = 0;
  virtual c10::intrusive_ptr<c10d::Work> broadcast(torch::Tensor tensor, int root,
                                                   CollectiveTag tag) = 0;
  virtual c10::intrusive_ptr<c10d::Work> all_gather(torch::Tensor output, torch::Tensor input,
                                                    CollectiveTag tag) = 0;
  virtual void barrier(CollectiveTag tag) = 0;

  // Faults on purpose for the next collective (trace::InjectedFault::kSkipCollective,
  // kUnequalSize).
  virtual void inject_next(trace::InjectedFault fault) = 0;

  virtual void shutdown() = 0;
};

}  // namespace shardlens::trainer
