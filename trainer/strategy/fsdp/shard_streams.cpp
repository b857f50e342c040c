#include "trainer/strategy/fsdp/shard_streams.h"

#include <c10/cuda/CUDAGuard.h>

namespace shardlens::trainer::strategy {

namespace {

constexpr std::size_t kMostFreedUnits = 2;

std::shared_ptr<c10::cuda::CUDAEvent> event_of_current_stream() {
  auto event = std::make_shared<c10::cuda::CUDAEvent>();
  event->record();
  return event;
}

}  // namespace

ShardStreams::ShardStreams(torch::Device device, bool high_priority) {
  if (!device.is_cuda()) return;
  gather_ = c10::cuda::getStreamFromPool(high_priority, device.index());
  reduce_ = c10::cuda::getStreamFromPool(high_priority, device.index());
}

void ShardStreams::run_on(const std::optional<c10::cuda::CUDAStream>& stream,
                          const std::function<void()>& action) {
  c10::cuda::OptionalCUDAStreamGuard guard;
  if (stream) guard.reset_stream(*stream);
  action();
}

void ShardStreams::let_wait(const std::optional<c10::cuda::CUDAStream>& stream) {
  if (stream) event_of_current_stream()->block(*stream);
}

void ShardStreams::on_gather_stream(const std::function<void()>& action) const {
  run_on(gather_, action);
}

void ShardStreams::on_reduce_stream(const std::function<void()>& action) const {
  run_on(reduce_, action);
}

void ShardStreams::let_gather_stream_wait() const { let_wait(gather_); }

void ShardStreams::let_reduce_stream_wait() const { let_wait(reduce_); }

void ShardStreams::synchronize() const {
  if (exist()) c10::cuda::getCurrentCUDAStream().synchronize();
}

std::optional<Completion> ShardStreams::mark() const {
  if (!exist()) return std::nullopt;
  return Completion(event_of_current_stream());
}

void GatherLimiter::unit_was_freed(const ShardStreams& streams) {
  if (limits_ && streams.exist()) freed_.push_back(event_of_current_stream());
}

void GatherLimiter::before_gather() {
  while (freed_.size() >= kMostFreedUnits) {
    freed_.front()->synchronize();
    freed_.pop_front();
  }
}

}  // namespace shardlens::trainer::strategy
