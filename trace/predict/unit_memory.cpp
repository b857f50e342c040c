#include "trace/predict/unit_memory.h"

#include <utility>

#include "trace/model/strategy.h"
#include "trace/predict/optimizer_state.h"

namespace shardlens::trace {

namespace {

Holding gathered_as(std::int64_t block) {
  return block == kRootBlock ? Holding::kGatheredRoot : Holding::kGatheredBlocks;
}

}  // namespace

UnitMemory::UnitMemory(const PlannedJob& job, const ModelSizes& sizes)
    : job_(job),
      sizes_(sizes),
      shards_(shard_sizes(job, sizes)),
      bytes_(element_bytes(job.settings)),
      frees_after_forward_(strategy_traits(job.settings.sharding_strategy).frees_after_forward),
      // On a CPU shards are in the host's memory anyway.
      offloads_(job.settings.cpu_offload && job.on_gpu),
      is_resident_(shards_.group == 1 && bytes_.gathered == 4 && !offloads_),
      states_(static_cast<std::size_t>(sizes.layers + 1), State::kFree) {}

std::int64_t UnitMemory::trained_shard(std::int64_t block) const {
  if (block == kRootBlock) return shards_.root;
  return block < sizes_.frozen_layers ? 0 : shards_.block;
}

FrozenBytes UnitMemory::frozen_shard(std::int64_t block) const {
  if (block == kRootBlock) return shards_.frozen_root;
  return block < sizes_.blocks_with_frozen_weights() ? shards_.frozen_block : FrozenBytes{};
}

std::int64_t UnitMemory::trained_values(std::int64_t block) const {
  if (block != kRootBlock) return shards_.whole.block;
  return shards_.whole.root - shards_.whole.root_frozen;
}

void UnitMemory::hold_at_rest(MemoryLedger& ledger) {
  if (offloads_) return;
  ledger.add(Holding::kParameters,
             bytes_.master * shards_.trained_values(sizes_) + shards_.frozen_bytes(sizes_));
  ledger.add(Holding::kOptimizerState, optimizer_state(job_, sizes_).bytes);
}

std::int64_t UnitMemory::host_bytes() const {
  if (!offloads_) return 0;
  // Shards and their gradients.
  return 2 * bytes_.master * shards_.trained_values(sizes_) + shards_.frozen_bytes(sizes_) +
         optimizer_state(job_, sizes_).bytes;
}

std::int64_t UnitMemory::gathered_bytes(std::int64_t block) const {
  // Buffers whose type is the one they are computed with are used where they are.
  const bool is_whole = shards_.group == 1 && !offloads_;
  const FrozenBytes frozen = frozen_shard(block);
  return shards_.group *
         (bytes_.gathered * trained_shard(block) + (is_whole ? frozen.cast : frozen.gathered));
}

std::int64_t UnitMemory::gather_input_bytes(std::int64_t block) const {
  if (shards_.group == 1) return 0;
  const FrozenBytes frozen = frozen_shard(block);
  if (offloads_) return bytes_.gathered * trained_shard(block) + frozen.gathered;
  return (bytes_.gathered != bytes_.master ? bytes_.gathered * trained_shard(block) : 0) +
         frozen.cast;
}

void UnitMemory::begin_forward(MemoryLedger& ledger, bool reduces, bool adds) {
  reduces_ = reduces;
  adds_ = adds;
  gather(ledger, kRootBlock);
  wait(ledger, kRootBlock);
  if (job_.settings.forward_prefetch) gather_ahead(ledger, 0);
}

void UnitMemory::enter_block(MemoryLedger& ledger, std::int64_t block) {
  gather(ledger, block);
  wait(ledger, block);
  if (job_.settings.forward_prefetch) gather_ahead(ledger, block + 1);
}

void UnitMemory::leave_block(MemoryLedger& ledger, std::int64_t block) {
  if (!frees_after_forward_) return;
  const bool is_last = block + 1 == sizes_.layers;
  if (job_.on_gpu && !job_.settings.forward_prefetch && !is_last) return retire(ledger, block);
  drop_retired(ledger);
  free(ledger, block);
}

void UnitMemory::begin_backward(MemoryLedger& ledger) {
  if (job_.settings.backward_prefetch == "pre") gather_ahead(ledger, sizes_.layers - 1);
}

void UnitMemory::enter_block_backward(MemoryLedger& ledger, std::int64_t block) {
  gather(ledger, block);
  wait(ledger, block);
  if (job_.settings.backward_prefetch == "pre") gather_ahead(ledger, block - 1);
}

void UnitMemory::keep_gradient(MemoryLedger& ledger, std::int64_t values) {
  const std::int64_t bytes = bytes_.gathered * values;
  ledger.move(Holding::kFreshGradients, Holding::kUnitGradients, bytes);
  if (adds_) ledger.remove(Holding::kUnitGradients, bytes);
}

void UnitMemory::leave_block_backward(MemoryLedger& ledger, std::int64_t block) {
  if (job_.settings.backward_prefetch == "post") gather_ahead(ledger, block - 1);
  if (reduces_ || frees_after_forward_) free(ledger, block);
  if (reduces_) reduce(ledger, block);
}

void UnitMemory::end_backward(MemoryLedger& ledger) {
  leave_block_backward(ledger, kRootBlock);
  if (!reduces_) return;
  finish_reduction(ledger);
  has_shard_gradients_ = true;
}

void UnitMemory::gather(MemoryLedger& ledger, std::int64_t block) {
  if (state_of(block) != State::kFree || gathered_bytes(block) == 0) return;
  state_of(block) = State::kGathering;
  if (is_resident_) return;
  ledger.add(gathered_as(block), gathered_bytes(block));
  ledger.add(Holding::kGatherInputs, gather_input_bytes(block));
  // An offloaded shard is cast on the device.
  const bool is_cast = offloads_ && bytes_.gathered != bytes_.master;
  const std::int64_t before = is_cast ? bytes_.master * trained_shard(block) : 0;
  ledger.add(Holding::kGatherInputs, before);
  ledger.remove(Holding::kGatherInputs, before);
}

void UnitMemory::wait(MemoryLedger& ledger, std::int64_t block) {
  if (state_of(block) != State::kGathering) return;
  state_of(block) = State::kGathered;
  if (is_resident_) return;
  ledger.remove(Holding::kGatherInputs, gather_input_bytes(block));
}

void UnitMemory::free(MemoryLedger& ledger, std::int64_t block) {
  wait(ledger, block);
  if (state_of(block) == State::kFree) return;
  state_of(block) = State::kFree;
  if (!is_resident_) ledger.remove(gathered_as(block), gathered_bytes(block));
}

void UnitMemory::retire(MemoryLedger& ledger, std::int64_t block) {
  drop_retired(ledger);
  wait(ledger, block);
  if (std::exchange(state_of(block), State::kFree) != State::kFree) retired_ = block;
}

void UnitMemory::drop_retired(MemoryLedger& ledger) {
  const auto block = std::exchange(retired_, std::nullopt);
  if (block && !is_resident_) ledger.remove(gathered_as(*block), gathered_bytes(*block));
}

void UnitMemory::gather_ahead(MemoryLedger& ledger, std::int64_t block) {
  if (block >= 0 && block < sizes_.layers) gather(ledger, block);
}

void UnitMemory::reduce(MemoryLedger& ledger, std::int64_t block) {
  const std::int64_t shard = trained_shard(block);
  if (shard == 0) return;
  finish_reduction(ledger);  // of the unit before, as trainer/fsdp/gradient_reducer
  UnderWay next;
  next.shard = shard;
  const std::int64_t flat = bytes_.reduced * shards_.group * shard;
  if (shards_.group > 1) {
    next.input = flat;
    next.output = bytes_.reduced * shard;
    ledger.add(Holding::kReduceInputs, next.input);
  } else {
    next.output = flat;
    ledger.add(Holding::kReduceOutputs, next.output);
  }
  ledger.remove(Holding::kUnitGradients, bytes_.gathered * trained_values(block));
  if (shards_.group > 1) ledger.add(Holding::kReduceOutputs, next.output);
  under_way_ = next;
}

void UnitMemory::finish_reduction(MemoryLedger& ledger) {
  if (!under_way_) return;
  const UnderWay ended = *std::exchange(under_way_, std::nullopt);
  ledger.remove(Holding::kReduceInputs, ended.input);
  if (!offloads_ && !has_shard_gradients_) {
    if (bytes_.reduced == bytes_.master) {
      ledger.move(Holding::kReduceOutputs, Holding::kGradients, ended.output);
      return;
    }
    ledger.add(Holding::kGradients, bytes_.master * ended.shard);
  }
  ledger.remove(Holding::kReduceOutputs, ended.output);
}

}  // namespace shardlens::trace
