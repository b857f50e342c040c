#include "trace/predict/unit_memory.h"

#include <algorithm>
#include <utility>

#include "trace/model/strategy.h"
#include "trace/predict/optimizer_state.h"

namespace shardlens::trace {

namespace {

Holding gathered_as(std::size_t unit) {
  return unit == 0 ? Holding::kGatheredRoot : Holding::kGatheredBlocks;
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
      states_(unit_of(sizes.layers, 0), State::kFree) {
  list_in_order_of_leaving();
}

void UnitMemory::list_in_order_of_leaving() {
  std::vector<std::size_t> of_block, open;
  const auto leave_before = [&](int parameter) {
    for (; !open.empty() && shards_.of_block[open.back()].unit.end <= parameter; open.pop_back()) {
      of_block.push_back(open.back());
    }
  };
  for (std::size_t i = 0; i < shards_.of_block.size(); ++i) {
    leave_before(shards_.of_block[i].unit.first);
    open.push_back(i);
  }
  leave_before(static_cast<int>(sizes_.block.size()));
  for (std::int64_t block = 0; block < sizes_.layers; ++block) {
    for (const std::size_t i : of_block) left_.push_back(unit_of(block, i));
  }
}

std::int64_t UnitMemory::block_of(Unit unit) const {
  return unit == kRoot ? kRootBlock
                       : static_cast<std::int64_t>((unit - 1) / shards_.of_block.size());
}

const BlockShard& UnitMemory::shard_of(Unit unit) const {
  return shards_.of_block[(unit - 1) % shards_.of_block.size()];
}

std::int64_t UnitMemory::trained_shard(Unit unit) const {
  if (unit == kRoot) return shards_.root;
  return block_of(unit) < sizes_.frozen_layers ? 0 : shard_of(unit).shard;
}

FrozenBytes UnitMemory::frozen_shard(Unit unit) const {
  if (unit == kRoot) return shards_.frozen_root;
  return block_of(unit) < sizes_.blocks_with_frozen_weights() ? shard_of(unit).frozen
                                                              : FrozenBytes{};
}

std::int64_t UnitMemory::trained_values(Unit unit) const {
  if (unit != kRoot) return shard_of(unit).trained;
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

std::int64_t UnitMemory::gathered_bytes(Unit unit) const {
  // Buffers whose type is the one they are computed with are used where they are.
  const bool is_whole = shards_.group == 1 && !offloads_;
  const FrozenBytes frozen = frozen_shard(unit);
  return shards_.group *
         (bytes_.gathered * trained_shard(unit) + (is_whole ? frozen.cast : frozen.gathered));
}

std::int64_t UnitMemory::gather_input_bytes(Unit unit) const {
  if (shards_.group == 1) return 0;
  const FrozenBytes frozen = frozen_shard(unit);
  if (offloads_) return bytes_.gathered * trained_shard(unit) + frozen.gathered;
  return (bytes_.gathered != bytes_.master ? bytes_.gathered * trained_shard(unit) : 0) +
         frozen.cast;
}

void UnitMemory::begin_forward(MemoryLedger& ledger, bool reduces, bool adds) {
  reduces_ = reduces;
  adds_ = adds;
  enter(ledger, kRoot);
}

void UnitMemory::enter(MemoryLedger& ledger, Unit unit) {
  entered_ = unit;
  gather(ledger, unit);
  wait(ledger, unit);
  if (job_.settings.forward_prefetch && unit + 1 < states_.size()) gather(ledger, unit + 1);
}

void UnitMemory::enter_block(MemoryLedger& ledger, std::int64_t block) {
  for (std::size_t i = 0; i < shards_.of_block.size(); ++i) {
    while (!open_.empty() &&
           !shard_of(open_.back()).unit.contains(shards_.of_block[i].unit.first)) {
      leave(ledger);
    }
    open_.push_back(unit_of(block, i));
    enter(ledger, open_.back());
  }
}

void UnitMemory::leave_block(MemoryLedger& ledger, std::int64_t /*block*/) {
  while (!open_.empty()) leave(ledger);
}

void UnitMemory::leave(MemoryLedger& ledger) {
  const Unit unit = open_.back();
  open_.pop_back();
  if (!frees_after_forward_) return;
  const bool all_were_entered = entered_ + 1 == states_.size();
  if (job_.on_gpu && !job_.settings.forward_prefetch && !all_were_entered) {
    return retire(ledger, unit);
  }
  drop_retired(ledger);
  free(ledger, unit);
}

void UnitMemory::begin_backward(MemoryLedger& ledger) {
  if (job_.settings.backward_prefetch == "pre" && !left_.empty()) gather(ledger, left_.back());
}

void UnitMemory::enter_block_backward(MemoryLedger& ledger, std::int64_t block) {
  // A unit around the whole block begins with it, whatever is computed first.
  if (shards_.blocks_are_units() &&
      shards_.of_block[0].unit.end == static_cast<int>(sizes_.block.size()) &&
      shards_.of_block[0].unit.first == 0) {
    enter_backward(ledger, unit_of(block, 0));
  }
}

// Backward has come to an operator of the layer with this parameter.
void UnitMemory::use_parameter(MemoryLedger& ledger, std::int64_t block, int parameter) {
  while (!open_.empty() && !shard_of(open_.back()).unit.contains(parameter)) leave_backward(ledger);
  for (std::size_t i = 0; i < shards_.of_block.size(); ++i) {
    const Unit unit = unit_of(block, i);
    if (!shards_.of_block[i].unit.contains(parameter)) continue;
    if (std::ranges::find(open_, unit) == open_.end()) enter_backward(ledger, unit);
  }
}

void UnitMemory::enter_backward(MemoryLedger& ledger, Unit unit) {
  open_.push_back(unit);
  gather(ledger, unit);
  wait(ledger, unit);
  if (job_.settings.backward_prefetch == "pre") gather_before(ledger, unit);
}

void UnitMemory::leave_backward(MemoryLedger& ledger) {
  const Unit unit = open_.back();
  open_.pop_back();
  end_unit_backward(ledger, unit);
}

void UnitMemory::end_unit_backward(MemoryLedger& ledger, Unit unit) {
  if (job_.settings.backward_prefetch == "post") gather_before(ledger, unit);
  if (reduces_ || frees_after_forward_) free(ledger, unit);
  if (reduces_) reduce(ledger, unit);
}

// In backward: what forward left before it.
void UnitMemory::gather_before(MemoryLedger& ledger, Unit unit) {
  const auto here = std::ranges::find(left_, unit);
  if (here != left_.end() && here != left_.begin()) gather(ledger, *(here - 1));
}

void UnitMemory::keep_gradient(MemoryLedger& ledger, std::int64_t values) {
  const std::int64_t bytes = bytes_.gathered * values;
  ledger.move(Holding::kFreshGradients, Holding::kUnitGradients, bytes);
  if (adds_) ledger.remove(Holding::kUnitGradients, bytes);
}

void UnitMemory::leave_block_backward(MemoryLedger& ledger, std::int64_t /*block*/) {
  while (!open_.empty()) leave_backward(ledger);
}

void UnitMemory::end_backward(MemoryLedger& ledger) {
  end_unit_backward(ledger, kRoot);
  if (!reduces_) return;
  finish_reduction(ledger);
  has_shard_gradients_ = true;
}

void UnitMemory::gather(MemoryLedger& ledger, Unit unit) {
  if (states_[unit] != State::kFree || gathered_bytes(unit) == 0) return;
  states_[unit] = State::kGathering;
  if (is_resident_) return;
  ledger.add(gathered_as(unit), gathered_bytes(unit));
  ledger.add(Holding::kGatherInputs, gather_input_bytes(unit));
  // An offloaded shard is cast on the device.
  const bool is_cast = offloads_ && bytes_.gathered != bytes_.master;
  const std::int64_t before = is_cast ? bytes_.master * trained_shard(unit) : 0;
  ledger.add(Holding::kGatherInputs, before);
  ledger.remove(Holding::kGatherInputs, before);
}

void UnitMemory::wait(MemoryLedger& ledger, Unit unit) {
  if (states_[unit] != State::kGathering) return;
  states_[unit] = State::kGathered;
  if (is_resident_) return;
  ledger.remove(Holding::kGatherInputs, gather_input_bytes(unit));
}

void UnitMemory::free(MemoryLedger& ledger, Unit unit) {
  wait(ledger, unit);
  if (states_[unit] == State::kFree) return;
  states_[unit] = State::kFree;
  if (!is_resident_) ledger.remove(gathered_as(unit), gathered_bytes(unit));
}

void UnitMemory::retire(MemoryLedger& ledger, Unit unit) {
  drop_retired(ledger);
  wait(ledger, unit);
  if (std::exchange(states_[unit], State::kFree) != State::kFree) retired_ = unit;
}

void UnitMemory::drop_retired(MemoryLedger& ledger) {
  const auto unit = std::exchange(retired_, std::nullopt);
  if (unit && !is_resident_) ledger.remove(gathered_as(*unit), gathered_bytes(*unit));
}

void UnitMemory::reduce(MemoryLedger& ledger, Unit unit) {
  const std::int64_t shard = trained_shard(unit);
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
  ledger.remove(Holding::kUnitGradients, bytes_.gathered * trained_values(unit));
  if (shards_.group > 1) ledger.add(Holding::kReduceOutputs, next.output);
  under_way_ = next;
}

void UnitMemory::finish_reduction(MemoryLedger& ledger) {
  if (!under_way_) return;
  const UnderWay ended = *std::exchange(under_way_, std::nullopt);
  ledger.remove(Holding::kReduceInputs, ended.input);
  const bool is_cast = bytes_.reduced != bytes_.master;
  if (!offloads_ && !has_shard_gradients_ && !is_cast) {
    ledger.move(Holding::kReduceOutputs, Holding::kGradients, ended.output);
    return;
  }
  // Cast, it becomes the shard's gradient or is added to it.
  const std::int64_t cast = offloads_ || !is_cast ? 0 : bytes_.master * ended.shard;
  ledger.add(Holding::kGradients, cast);
  if (has_shard_gradients_) ledger.remove(Holding::kGradients, cast);
  ledger.remove(Holding::kReduceOutputs, ended.output);
}

}  // namespace shardlens::trace
