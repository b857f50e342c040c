#include "trace/job/units/unit_schedule.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::job {

UnitScheduleOptions unit_schedule_options(const Settings& settings) {
  return {strategy_traits(settings.sharding_strategy).frees_after_forward,
          settings.backward_prefetch, settings.forward_prefetch, true, true};
}

UnitSchedule::UnitSchedule(std::size_t units, const UnitScheduleOptions& options,
                           UnitActions& actions)
    : options_(options), actions_(actions), units_(units) {}

void UnitSchedule::begin_forward(bool has_backward) {
  constexpr int kRoot = 0;
  in_backward_ = false;
  entered_before_ = std::exchange(entered_, {});
  await_backward_.clear();
  entered_.push_back(kRoot);
  gather(kRoot, false);
  actions_.wait(kRoot);
  at(kRoot).awaits_backward = has_backward;
  if (options_.root_prefetches) prefetch_for_forward(kRoot);
}

void UnitSchedule::enter_forward(int unit, bool has_backward) {
  if (!in_backward_) entered_.push_back(unit);
  gather(unit, false);
  actions_.wait(unit);
  if (!in_backward_) prefetch_for_forward(unit);
  if (has_backward) at(unit).awaits_backward = true;
}

void UnitSchedule::leave_forward(int unit, bool awaits_backward) {
  if (options_.frees_after_forward_of(unit)) free(unit);
  if (awaits_backward) await_backward_.push_back(unit);
}

void UnitSchedule::begin_backward() {
  in_backward_ = true;
  if (!options_.root_prefetches) return;
  if (options_.backward_prefetch == BackwardPrefetch::kPre) prefetch_for_backward();
}

void UnitSchedule::enter_backward(int unit) {
  // Autograd goes through forward in reverse: what left it after this unit has had its backward, or
  // has none.
  const auto begun = std::find(await_backward_.rbegin(), await_backward_.rend(), unit);
  if (begun != await_backward_.rend()) {
    await_backward_.erase(std::prev(begun.base()), await_backward_.end());
  }
  gather(unit, false);
  actions_.wait(unit);
  if (options_.backward_prefetch == BackwardPrefetch::kPre) prefetch_for_backward();
}

void UnitSchedule::leave_backward(int unit) {
  at(unit).awaits_backward = false;
  if (options_.backward_prefetch == BackwardPrefetch::kPost) prefetch_for_backward();
  if (frees_after_backward(unit)) free(unit);
  require_sync_ ? actions_.reduce(unit) : actions_.accumulate(unit);
}

void UnitSchedule::end_backward() {
  await_backward_.clear();
  // The root, and units whose input needs no gradient.
  for (auto unit = static_cast<int>(units_.size()); unit-- > 0;) {
    if (at(unit).awaits_backward) leave_backward(unit);
  }
  // What was gathered ahead for a use that did not come must not outlive the update, either.
  for (int unit = 0; unit < static_cast<int>(units_.size()); ++unit) {
    if (frees_after_backward(unit)) free(unit);
  }
}

bool UnitSchedule::frees_after_backward(int unit) const {
  return require_sync_ || options_.frees_after_forward_of(unit) || !options_.keeps_without_sync;
}

void UnitSchedule::free_all() {
  for (int unit = 0; unit < static_cast<int>(units_.size()); ++unit) free(unit);
}

void UnitSchedule::gather(int unit, bool ahead) {
  if (at(unit).is_gathered) return;
  at(unit).is_gathered = true;
  actions_.gather(unit, ahead);
}

void UnitSchedule::free(int unit) {
  if (!at(unit).is_gathered) return;
  at(unit).is_gathered = false;
  actions_.free(unit);
}

// As PyTorch does: the unit that came behind this one in the forward before.
void UnitSchedule::prefetch_for_forward(int unit) {
  if (!options_.forward_prefetch) return;
  const auto here = std::ranges::find(entered_before_, unit);
  if (here == entered_before_.end() || here + 1 == entered_before_.end()) return;
  gather(*(here + 1), true);
}

void UnitSchedule::prefetch_for_backward() {
  if (!await_backward_.empty()) gather(await_backward_.back(), true);
}

}  // namespace shardlens::trace::job
