// What happens to a bucket whose gradients are ready: compress, all-reduce, average, decompress.
// Called by c10d::Reducer on autograd's threads, in bucket order.
#pragma once

#include <torch/types.h>

#include <memory>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/job/settings/settings.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::strategy {

// Averages as PyTorch does: without compression the product with 1/world_size is summed; with it
// the bucket is cast, divided, summed and cast back (default_hooks.py).
class BucketHook final : public c10d::CommHookInterface {
 public:
  // `launched` counts the buckets handed in; read by the training thread after backward.
  BucketHook(comm::Communicator& communicator, profiler::recorder::Recorder& recorder,
             const trace::job::Settings& settings, std::shared_ptr<std::size_t> launched);

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;
  torch::Tensor parseHookResult(const c10::IValue& result) override;

 private:
  struct Deferred {
    int bucket = 0;
    torch::Tensor buffer;
    c10::intrusive_ptr<c10::ivalue::Future> result;
  };

  c10::intrusive_ptr<c10::ivalue::Future> reduce(int bucket, torch::Tensor buffer);
  c10::intrusive_ptr<c10::ivalue::Future> reduce_plain(int bucket, torch::Tensor buffer);
  c10::intrusive_ptr<c10::ivalue::Future> reduce_compressed(int bucket, torch::Tensor buffer,
                                                            torch::ScalarType type);
  void launch_deferred();

  comm::Communicator& communicator_;
  profiler::recorder::Recorder& recorder_;
  const trace::job::CommunicationHook hook_;
  const bool overlaps_;      // false: launch all buckets when the last one is ready
  const bool communicates_;  // false: hand every bucket back as it is
  std::shared_ptr<std::size_t> launched_;
  std::vector<Deferred> deferred_;
};

}  // namespace shardlens::trainer::strategy
