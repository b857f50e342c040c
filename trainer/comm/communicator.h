// The only way in which the trainer talks to other ranks: a c10d process group whose collectives
// are entered in the recorder with function, bytes, tag and sequence. The training thread, and
// autograd's threads through hooks. On GPUs NCCL_SOCKET_IFNAME=lo must be set when all ranks are on
// one machine, and another NCCL_HOSTID for each rank when ranks share a GPU, before any thread
// runs.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/base/result.h"
#include "trace/job/settings/grammars.h"
#include "trainer/comm/meeting_place.h"
#include "trainer/comm/recorded_backend.h"

namespace shardlens::trainer::comm {

struct CommunicatorOptions : MeetingPlace {
  torch::Device device = torch::kCPU;
  std::chrono::seconds timeout{600};
  bool high_priority_streams = true;                          // of NCCL
  bool records_kernels = false;                               // the recorder learns when NCCL's ran
  std::optional<trace::job::SimulatedLink> simulated_link{};  // CPU and one machine only
  bool single_machine = true;                                 // Gloo stays on 127.0.0.1
  // With NCCL a rank waits for a collective inside CUDA, where no exception reaches it: another
  // thread calls this after `timeout`, to end the process. LibTorch's watchdog does so if it is
  // null, or does not.
  OnCollectiveTimeout on_timeout{};
  c10::intrusive_ptr<c10d::Store> store{};  // where they have met already; null: they have not
  // Of the network, comma-separated, for Gloo on several machines; "": the one towards the master.
  std::string gloo_interfaces{};
};

// A group of ranks to be connected: the world, or a part of it.
struct GroupPlan {
  int id = 0;  // the recorder's
  std::string name = "world";
  std::vector<int> ranks;  // of the world
};
class SharedLink;

// A failed collective throws from Work::wait(), or through its future, with the collective's
// number, function, bytes and tag in the message; those after it fail at once. Ranks that enter
// different collectives (function, size, type or tag) never exchange data: both fail after
// `timeout`. With NCCL, Work::wait() only makes the current stream wait: a collective that does not
// end is told to `on_timeout`, one that fails ends the process through LibTorch's watchdog, and
// ranks that enter different ones hang, or exchange what means nothing.
class Communicator {
 public:
  static trace::base::Result<std::unique_ptr<Communicator>> connect(
      const CommunicatorOptions& options, profiler::recorder::Recorder& recorder);
  ~Communicator() { shutdown(); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return backend_->getRank(); }  // among those of this communicator
  int world_size() const { return backend_->getSize(); }
  torch::Device device() const { return options_.device; }
  std::chrono::seconds timeout() const { return options_.timeout; }  // of a collective
  c10::intrusive_ptr<c10d::ProcessGroup> process_group() { return group_; }

  // Asynchronous; each enters the recorder and is tagged. In place on `tensor`.
  c10::intrusive_ptr<c10d::Work> all_reduce(
      torch::Tensor tensor, CollectiveTag tag,
      c10d::ReduceOp::RedOpType operation = c10d::ReduceOp::SUM);
  c10::intrusive_ptr<c10d::Work> broadcast(torch::Tensor tensor, int root, CollectiveTag tag);
  c10::intrusive_ptr<c10d::Work> all_gather(torch::Tensor output, torch::Tensor input,
                                            CollectiveTag tag);
  // `input` holds a part for each rank, and is overwritten; `output` becomes the sum over ranks of
  // this rank's part, or another `operation` of them, on a GPU.
  c10::intrusive_ptr<c10d::Work> reduce_scatter(
      torch::Tensor output, torch::Tensor input, CollectiveTag tag,
      c10d::ReduceOp::RedOpType operation = c10d::ReduceOp::SUM);
  void barrier(CollectiveTag tag);
  // The tag of collectives that others, such as c10d::Reducer, ask process_group() for.
  void set_default_tag(CollectiveTag tag) { backend_->set_default_tag(std::move(tag)); }

  // A communicator of its own over some of these ranks, in this order: its collectives do not queue
  // behind those of others. All ranks call it equally often, each with the group it belongs to.
  // Throws c10::Error.
  std::unique_ptr<Communicator> create_group(const std::string& name, std::vector<int> ranks);

  // Faults on purpose for the next collective (trace::InjectedFault::kSkipCollective,
  // kUnequalSize).
  void inject_next(trace::job::InjectedFault fault) { backend_->inject_next(fault); }

  // Ends within a few seconds, whatever the other ranks do. Idempotent; no collective may follow.
  void shutdown() { backend_->shutdown(); }

 private:
  // `options.rank` and `options.world_size` are those of the world.
  Communicator(c10::intrusive_ptr<c10d::Store> store, GroupPlan plan,
               const CommunicatorOptions& options, std::shared_ptr<SharedLink> simulated,
               profiler::recorder::Recorder& recorder);

  c10::intrusive_ptr<c10d::Store> store_;
  GroupPlan plan_;
  CommunicatorOptions options_;
  std::shared_ptr<SharedLink> simulated_;  // of all groups; null: none
  profiler::recorder::Recorder& recorder_;
  int groups_ = 0;
  c10::intrusive_ptr<RecordedBackend> backend_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

// Switches PyTorch's flight recorder off, unless the environment has set its size. It notes process
// groups in a map without a lock (pytorch#179313): with Gloo, where each group runs its collectives
// on a thread of its own here, that ends in a crash or an endless loop. Must come before the
// process's first process group.
void turn_flight_recorder_off();

}  // namespace shardlens::trainer::comm
