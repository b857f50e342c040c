// The CUDA streams on which units are gathered and gradients reduced beside computation. On a CPU
// there are none, and everything runs in place. The training thread and autograd's.
#pragma once

#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "trainer/strategy/fsdp/completion.h"

namespace shardlens::trainer::strategy {

class ShardStreams {
 public:
  ShardStreams(torch::Device device, bool high_priority);

  // Run `action` with that stream current.
  void on_gather_stream(const std::function<void()>& action) const;
  void on_reduce_stream(const std::function<void()>& action) const;

  // The gather stream waits for what the current stream has been given so far: new values of
  // shards, the last use of memory that is to be gathered into again.
  void let_gather_stream_wait() const;
  void let_reduce_stream_wait() const;

  // The host waits for the stream that is current.
  void synchronize() const;

  // What was launched on the stream that is current; null on a CPU.
  std::optional<Completion> mark() const;

  bool exist() const { return gather_.has_value(); }

 private:
  static void run_on(const std::optional<c10::cuda::CUDAStream>& stream,
                     const std::function<void()>& action);
  static void let_wait(const std::optional<c10::cuda::CUDAStream>& stream);

  std::optional<c10::cuda::CUDAStream> gather_, reduce_;
};

// PyTorch's rate limiter: the host runs ahead of the device by at most two freed units, so that no
// more memory is asked for than two gathered units need (torch/distributed/fsdp, _FreeEventQueue).
class GatherLimiter {
 public:
  explicit GatherLimiter(bool limits) : limits_(limits) {}
  void unit_was_freed(const ShardStreams& streams);
  void before_gather();

 private:
  bool limits_;
  std::deque<std::shared_ptr<c10::cuda::CUDAEvent>> freed_;
};

}  // namespace shardlens::trainer::strategy
