#include "trainer/data/batch_loader.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/record_function.h>
#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <cstring>
#include <optional>

namespace shardlens::trainer {

struct BatchLoader::Slot {
  bool is_full = false;
  torch::Tensor inputs, targets;  // [most rows, time], pinned for a GPU
  std::int64_t rows = 0;          // of the batch
  std::int64_t counted_targets = 0;
  bool is_stand_in = false;
  Position position;                            // after the batch
  std::optional<at::cuda::CUDAEvent> was_read;  // by the copies to the GPU
};

namespace {

constexpr std::chrono::microseconds kPollInterval{100};

// A few kilobytes: not worth an operator.
void copy_rows(const torch::Tensor& from, const torch::Tensor& to) {
  std::memcpy(to.data_ptr(), from.const_data_ptr(), from.nbytes());
}

torch::Tensor memory_for(const torch::Tensor& batch, const torch::Tensor& current, bool pinned) {
  if (current.defined() && current.size(0) >= batch.size(0)) return current;
  return torch::empty(batch.sizes(), batch.options().pinned_memory(pinned));
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

TokenBatch BatchLoader::next() {
  if (!prefetches_) {
    TokenBatch batch = stream_.next();
    position_ = drawn();
    batch.inputs = batch.inputs.to(device_);
    batch.targets = batch.targets.to(device_);
    return batch;
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
  TokenBatch batch = take(slot);
  {
    const std::lock_guard lock(mutex_);
    slot.is_full = false;
  }
  changed_.notify_all();
  return batch;
}

TokenBatch BatchLoader::take(Slot& slot) {
  position_ = slot.position;
  const auto move = [&](const torch::Tensor& tokens) {
    const torch::Tensor rows = tokens.narrow(0, 0, slot.rows);
    return device_.is_cuda() ? rows.to(device_, /*non_blocking=*/true) : rows.clone();
  };
  TokenBatch batch;
  batch.inputs = move(slot.inputs);
  batch.targets = move(slot.targets);
  batch.counted_targets = slot.counted_targets;
  batch.is_stand_in = slot.is_stand_in;
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
  const TokenBatch batch = stream_.next();
  slot.inputs = memory_for(batch.inputs, slot.inputs, device_.is_cuda());
  slot.targets = memory_for(batch.targets, slot.targets, device_.is_cuda());
  copy_rows(batch.inputs, slot.inputs);
  copy_rows(batch.targets, slot.targets);
  slot.rows = batch.inputs.size(0);
  slot.counted_targets = batch.counted_targets;
  slot.is_stand_in = batch.is_stand_in;
  slot.position = drawn();
}

}  // namespace shardlens::trainer
