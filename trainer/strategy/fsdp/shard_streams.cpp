#include "trainer/strategy/fsdp/shard_streams.h"

#include <c10/cuda/CUDAGuard.h>

#include <utility>

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

void RetiredUnit::replace(std::vector<c10::DataPtr> memory) {
  drop();
  memory_ = std::move(memory);
  last_use_ = streams_.mark();
  if (!streams_.exist()) drop();
}

void RetiredUnit::drop() {
  if (memory_.empty()) return;
  streams_.on_gather_stream([this] {
    if (last_use_) last_use_->wait();
    memory_.clear();
  });
}

}  // namespace shardlens::trainer::strategy
