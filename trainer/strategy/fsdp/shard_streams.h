// The CUDA streams on which units are gathered and gradients reduced beside computation. On a CPU
// there are none, and everything runs in place. The training thread and autograd's.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace shardlens::trainer::strategy {

// The end of something that was launched, to wait for: on a CPU the host waits, on a GPU the
// current stream does. Copies refer to the same end.
class Completion {
 public:
  Completion() = default;  // of nothing: never waits
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;
  explicit Completion(c10::intrusive_ptr<c10d::Work> work)
      : works_(std::make_shared<Works>(Works{std::move(work)})) {}
  // `works` that launch one another; all are known once `future` is there.
  Completion(c10::intrusive_ptr<c10::ivalue::Future> future, std::shared_ptr<const Works> works)
      : future_(std::move(future)), works_(std::move(works)) {}
  explicit Completion(std::shared_ptr<c10::cuda::CUDAEvent> event) : event_(std::move(event)) {}

  // Throws what made it fail. A work that was waited for holds no tensor but here.
  void wait() const {
    if (future_) future_->waitAndThrow();
    if (works_) {
      for (const auto& work : *works_) work->wait();
    }
    if (event_) event_->block(c10::cuda::getCurrentCUDAStream());
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::shared_ptr<const Works> works_;
  std::shared_ptr<c10::cuda::CUDAEvent> event_;
};

class ShardStreams {
 public:
  ShardStreams(torch::Device device, bool high_priority);

  // Run `action` with that stream current.
  void on_gather_stream(const std::function<void()>& action) const { run_on(gather_, action); }
  void on_reduce_stream(const std::function<void()>& action) const { run_on(reduce_, action); }

  // The gather stream waits for what the current stream has been given so far: new values of
  // shards, the last use of memory that is to be gathered into again.
  void let_gather_stream_wait() const { let_wait(gather_); }
  void let_reduce_stream_wait() const { let_wait(reduce_); }

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

// The memory of the unit that was freed last, kept while the device may still compute with it: so
// the next unit is gathered beside that computation, into other memory, and no more than two units
// have any.
class RetiredUnit {
 public:
  explicit RetiredUnit(const ShardStreams& streams) : streams_(streams) {}

  // Keeps `memory` until what the current stream has been given so far has run, and drops what it
  // kept before. On a CPU that has run already.
  void replace(std::vector<c10::DataPtr> memory);
  // Gives the memory back to the gather stream, which waits for its last use.
  void drop();

 private:
  const ShardStreams& streams_;
  std::vector<c10::DataPtr> memory_;
  std::optional<Completion> last_use_;
};

}  // namespace shardlens::trainer::strategy
