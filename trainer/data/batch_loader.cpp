#include "trainer/data/batch_loader.h"

#include <ATen/record_function.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace shardlens::trainer::data {

struct BatchLoader::Slot {
  bool is_full = false;
  // As large as the largest batch so far, pinned for a GPU.
  torch::Tensor inputs, targets, attention_mask;
  // Its tensors are parts of the above.
  TrainingBatch batch;
  Position position;                             // after the batch
  std::optional<c10::cuda::CUDAEvent> was_read;  // by the copies to the GPU
};

namespace {

constexpr std::chrono::microseconds kPollInterval{100};

// Copies into `memory`, which grows if it has to, and returns that part of it.
torch::Tensor stored(const torch::Tensor& from, torch::Tensor& memory, bool pinned) {
  if (!from.defined()) return {};
  if (!memory.defined() || memory.numel() < from.numel()) {
    memory = torch::empty({from.numel()}, from.options().pinned_memory(pinned));
  }
  // A few kilobytes: not worth an operator.
  std::memcpy(memory.data_ptr(), from.const_data_ptr(), from.nbytes());
  return memory.narrow(0, 0, from.numel()).view(from.sizes());
}

// Applies `move` to each tensor that is there.
template <typename Move>
TrainingBatch moved(TrainingBatch batch, const Move& move) {
  for (torch::Tensor* tensor : {&batch.inputs, &batch.targets, &batch.attention_mask}) {
    if (tensor->defined()) *tensor = move(*tensor);
  }
  return batch;
}

}  // namespace

BatchLoader::BatchLoader(BatchStream& stream, torch::Device device)
    : BatchLoader(stream, device, device.is_cuda()) {}

BatchLoader::BatchLoader(BatchStream& stream, torch::Device device, bool prefetches)
    : stream_(stream), device_(device), prefetches_(prefetches), position_(drawn()) {}

BatchLoader::~BatchLoader() = default;

void BatchLoader::go_to(std::int64_t epoch, std::int64_t batches) {
  TORCH_CHECK(!thread_.joinable(), "the next batches are being prepared already");
  stream_.go_to(epoch, batches);
  position_ = drawn();
}

TrainingBatch BatchLoader::next() {
  if (!prefetches_) {
    TrainingBatch batch = stream_.next();
    position_ = drawn();
    return moved(std::move(batch), [&](const torch::Tensor& tensor) { return tensor.to(device_); });
  }
  if (!thread_.joinable()) {
    for (std::size_t i = 0; i < kSlots; ++i) slots_.push_back(std::make_unique<Slot>());
    thread_ = std::jthread([this](const std::stop_token& stop) { prepare(stop); });
  }
  Slot& slot = *slots_[next_slot_];
  next_slot_ = (next_slot_ + 1) % kSlots;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return slot.is_full || failure_ != nullptr; });
    if (!slot.is_full) std::rethrow_exception(failure_);
  }
  TrainingBatch batch = take(slot);
  {
    const std::lock_guard lock(mutex_);
    slot.is_full = false;
  }
  changed_.notify_all();
  return batch;
}

TrainingBatch BatchLoader::take(Slot& slot) {
  position_ = slot.position;
  TrainingBatch batch = moved(slot.batch, [&](const torch::Tensor& tensor) {
    return device_.is_cuda() ? tensor.to(device_, /*non_blocking=*/true) : tensor.clone();
  });
  if (device_.is_cuda()) {
    if (!slot.was_read) slot.was_read.emplace();
    slot.was_read->record();
  }
  return batch;
}

void BatchLoader::prepare(const std::stop_token& stop) {
  const at::RecordFunctionGuard unrecorded(/*is_enabled=*/false);
  try {
    if (device_.is_cuda()) c10::cuda::set_device(device_.index());
    for (std::size_t i = 0;; i = (i + 1) % kSlots) {
      Slot& slot = *slots_[i];
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [&] { return !slot.is_full; })) return;
      }
      // Not synchronize(): after a hung collective the copies never end, but the rank must.
      while (slot.was_read && !slot.was_read->query()) {
        if (stop.stop_requested()) return;
        std::this_thread::sleep_for(kPollInterval);
      }
      fill(slot);
      {
        const std::lock_guard lock(mutex_);
        slot.is_full = true;
      }
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void BatchLoader::fill(Slot& slot) {
  TrainingBatch batch = stream_.next();
  const bool pinned = device_.is_cuda();
  batch.inputs = stored(batch.inputs, slot.inputs, pinned);
  batch.targets = stored(batch.targets, slot.targets, pinned);
  batch.attention_mask = stored(batch.attention_mask, slot.attention_mask, pinned);
  slot.batch = std::move(batch);
  slot.position = drawn();
}

}  // namespace shardlens::trainer::data
