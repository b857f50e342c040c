#include "trace/predict/memory/unit_memory.h"

#include <algorithm>
#include <utility>

#include "trace/job/shape/strategy.h"
#include "trace/predict/sizes/optimizer_state.h"

namespace shardlens::trace::predict {

namespace {

Holding gathered_as(std::size_t unit) {
  return unit == 0 ? Holding::kGatheredRoot : Holding::kGatheredUnits;
}

}  // namespace

UnitMemory::UnitMemory(const PlannedJob& job, const ModelSizes& sizes)
    : job_(job),
      sizes_(sizes),
      shards_(shard_sizes(job, sizes)),
      bytes_(element_bytes(job.settings)),
      frees_after_forward_(
          job::strategy_traits(job.settings.sharding_strategy).frees_after_forward),
      // On a CPU shards are in the host's memory anyway.
      offloads_(job.settings.cpu_offload && job.on_gpu),
      is_resident_(shards_.group == 1 && bytes_.gathered == 4 && !offloads_),
      states_(shards_.units.size(), State::kFree),
      awaits_end_(shards_.units.size(), false),
      of_parameter_(static_cast<std::size_t>(sizes.parameter_count())) {
  for (Unit unit = kRoot + 1; unit < states_.size(); ++unit) {
    for (int i = parameters(unit).first; i < parameters(unit).end; ++i) {
      of_parameter_[static_cast<std::size_t>(i)].push_back(unit);
    }
  }
}

void UnitMemory::hold_at_rest(MemoryLedger& ledger) {
  if (offloads_) return;
  ledger.add(Holding::kParameters,
             bytes_.master * shards_.trained_values() + shards_.frozen_bytes());
  ledger.add(Holding::kOptimizerState, optimizer_state(job_, sizes_).bytes);
}

std::int64_t UnitMemory::host_bytes() const {
  if (!offloads_) return 0;
  // Shards and their gradients.
  return 2 * bytes_.master * shards_.trained_values() + shards_.frozen_bytes() +
         optimizer_state(job_, sizes_).bytes;
}

std::int64_t UnitMemory::gathered_bytes(Unit unit) const {
  // Buffers whose type is the one they are computed with are used where they are.
  const bool is_whole = shards_.group == 1 && !offloads_;
  const UnitShard& shard = shards_.units[unit];
  return shards_.group *
         (bytes_.gathered * shard.trained + (is_whole ? shard.frozen.cast : shard.frozen.gathered));
}

std::int64_t UnitMemory::gather_input_bytes(Unit unit) const {
  if (shards_.group == 1) return 0;
  const UnitShard& shard = shards_.units[unit];
  if (offloads_) return bytes_.gathered * shard.trained + shard.frozen.gathered;
  return (bytes_.gathered != bytes_.master ? bytes_.gathered * shard.trained : 0) +
         shard.frozen.cast;
}

void UnitMemory::begin_forward(MemoryLedger& ledger, bool reduces, bool adds) {
  reduces_ = reduces;
  adds_ = adds;
  entered_ = 0;
  await_backward_.clear();
  awaits_end_[kRoot] = true;
  enter(ledger, kRoot);
}

void UnitMemory::enter(MemoryLedger& ledger, Unit unit) {
  ++entered_;
  gather(ledger, unit);
  wait(ledger, unit);
  if (job_.settings.forward_prefetch && unit + 1 < states_.size()) gather(ledger, unit + 1);
}

void UnitMemory::enter_layers(MemoryLedger& ledger, ParameterRange layers) {
  while (entered_ < states_.size() && parameters(entered_).first < layers.end) {
    while (!open_.empty() && !parameters(open_.back()).contains(parameters(entered_))) {
      leave(ledger);
    }
    open_.push_back(entered_);
    enter(ledger, open_.back());
  }
}

void UnitMemory::leave_layers(MemoryLedger& ledger, ParameterRange layers) {
  while (!open_.empty() && parameters(open_.back()).end <= layers.end) leave(ledger);
}

void UnitMemory::leave(MemoryLedger& ledger) {
  const Unit unit = open_.back();
  open_.pop_back();
  if (!at(unit).is_recomputed) await_backward(unit);
  if (!frees_after_forward_) return;
  const bool all_were_entered = entered_ == states_.size();
  if (job_.on_gpu && !job_.settings.forward_prefetch && !all_were_entered) {
    return retire(ledger, unit);
  }
  drop_retired(ledger);
  free(ledger, unit);
}

void UnitMemory::await_backward(Unit unit) {
  awaits_end_[unit] = true;
  if (at(unit).has_backward) await_backward_.push_back(unit);
}

void UnitMemory::begin_backward(MemoryLedger& ledger) {
  if (job_.settings.backward_prefetch == job::BackwardPrefetch::kPre) prefetch_for_backward(ledger);
}

// Units around all of it begin with it, whatever is computed first.
void UnitMemory::enter_layers_backward(MemoryLedger& ledger, ParameterRange layers) {
  for (const Unit unit : of_parameter_[static_cast<std::size_t>(layers.first)]) {
    if (!parameters(unit).contains(layers)) return;
    if (std::ranges::find(open_, unit) == open_.end()) enter_backward(ledger, unit);
  }
}

void UnitMemory::recompute_layers(MemoryLedger& ledger, ParameterRange layers) {
  std::vector<Unit> again;
  const auto leave_before = [&](int parameter) {
    for (; !again.empty() && parameters(again.back()).end <= parameter; again.pop_back()) {
      await_backward(again.back());
      if (frees_after_forward_) free(ledger, again.back());
    }
  };
  for (int i = layers.first; i < layers.end; ++i) {
    leave_before(i);
    for (const Unit unit : of_parameter_[static_cast<std::size_t>(i)]) {
      if (parameters(unit).first != i || !at(unit).is_recomputed) continue;
      again.push_back(unit);
      gather(ledger, unit);
      wait(ledger, unit);
    }
  }
  leave_before(layers.end);
}

void UnitMemory::use_parameter(MemoryLedger& ledger, int parameter) {
  while (!open_.empty() && !parameters(open_.back()).contains(parameter)) leave_backward(ledger);
  for (const Unit unit : of_parameter_[static_cast<std::size_t>(parameter)]) {
    if (std::ranges::find(open_, unit) == open_.end()) enter_backward(ledger, unit);
  }
}

void UnitMemory::enter_backward(MemoryLedger& ledger, Unit unit) {
  if (!at(unit).has_backward || !awaits_end_[unit]) return;
  const auto begun = std::find(await_backward_.rbegin(), await_backward_.rend(), unit);
  if (begun != await_backward_.rend()) {
    await_backward_.erase(std::prev(begun.base()), await_backward_.end());
  }
  open_.push_back(unit);
  gather(ledger, unit);
  wait(ledger, unit);
  if (job_.settings.backward_prefetch == job::BackwardPrefetch::kPre) prefetch_for_backward(ledger);
}

// What passes no gradient on ends with the whole of backward.
void UnitMemory::leave_backward(MemoryLedger& ledger) {
  const Unit unit = open_.back();
  open_.pop_back();
  if (at(unit).passes_gradient) end_unit_backward(ledger, unit);
}

void UnitMemory::end_unit_backward(MemoryLedger& ledger, Unit unit) {
  awaits_end_[unit] = false;
  if (job_.settings.backward_prefetch == job::BackwardPrefetch::kPost)
    prefetch_for_backward(ledger);
  if (reduces_ || frees_after_forward_) free(ledger, unit);
  if (reduces_) reduce(ledger, unit);
}

void UnitMemory::prefetch_for_backward(MemoryLedger& ledger) {
  if (!await_backward_.empty()) gather(ledger, await_backward_.back());
}

void UnitMemory::keep_gradient(MemoryLedger& ledger, std::int64_t values) {
  const std::int64_t bytes = bytes_.gathered * values;
  ledger.move(Holding::kFreshGradients, Holding::kUnitGradients, bytes);
  if (adds_) ledger.remove(Holding::kUnitGradients, bytes);
}

void UnitMemory::leave_layers_backward(MemoryLedger& ledger, ParameterRange layers) {
  while (!open_.empty() && parameters(open_.back()).first >= layers.first) leave_backward(ledger);
}

void UnitMemory::end_backward(MemoryLedger& ledger) {
  while (!open_.empty()) leave_backward(ledger);
  await_backward_.clear();
  for (Unit unit = states_.size(); unit-- > kRoot;) {
    if (awaits_end_[unit]) end_unit_backward(ledger, unit);
  }
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
  const std::int64_t before = is_cast ? bytes_.master * shards_.units[unit].trained : 0;
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
  const std::int64_t shard = shards_.units[unit].trained;
  if (shard == 0) return;
  finish_reduction(ledger);  // of the unit before, as trainer/strategy/fsdp/gradient_reducer
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
  ledger.remove(Holding::kUnitGradients, bytes_.gathered * at(unit).trained);
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

}  // namespace shardlens::trace::predict
