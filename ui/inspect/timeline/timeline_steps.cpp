#include "ui/inspect/timeline/timeline_steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::StepBorder;

// The last step that has begun; end() for none.
std::span<const StepBorder>::iterator last_begun(std::span<const StepBorder> steps,
                                                 std::int64_t time_ns) {
  const auto next = std::ranges::upper_bound(steps, time_ns, {}, &StepBorder::start_ns);
  return next == steps.begin() ? steps.end() : next - 1;
}

}  // namespace

StepIndex::StepIndex(const trace::timeline::TimelineRows& rows) {
  for (const StepBorder& step : rows.steps) by_rank_[step.rank].push_back(step);
  for (auto& [rank, steps] : by_rank_) {
    std::ranges::stable_sort(steps, {}, &StepBorder::start_ns);
  }
  std::vector<std::int64_t> all;
  for (const StepBorder& step : rows.steps)
    all.push_back(std::max<std::int64_t>(step.length_ns(), 1));
  if (!all.empty()) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) * 19 / 20);
    std::ranges::nth_element(all, at);
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    lengths_ = {*at, std::ranges::max(all),
                static_cast<std::int64_t>(sum / static_cast<double>(all.size()))};
  }
  for (const trace::timeline::TimelineRank& rank : rows.ranks) {
    if (!by_rank_.contains(rank.rank)) continue;
    reference_ = rank.rank;
    break;
  }
  collect_elsewhere();
}

// Each once, as the first rank that began it has it; by start.
void StepIndex::collect_elsewhere() {
  const auto known = of(reference_);
  for (const auto& [rank, steps] : by_rank_) {
    const auto same = std::ranges::mismatch(steps, known, {}, &StepBorder::step, &StepBorder::step);
    for (auto step = same.in1; step != steps.end(); ++step) {
      if (find(reference_, step->step) == nullptr) elsewhere_.push_back(*step);
    }
  }
  std::ranges::sort(elsewhere_, {},
                    [](const StepBorder& step) { return std::pair(step.step, step.start_ns); });
  const auto doubles = std::ranges::unique(elsewhere_, {}, &StepBorder::step);
  elsewhere_.erase(doubles.begin(), doubles.end());
  std::ranges::sort(elsewhere_, {}, &StepBorder::start_ns);
}

std::size_t StepIndex::count_begun(std::int64_t time_ns) const {
  return begun_before(of(reference_), time_ns).size() + begun_before(elsewhere_, time_ns).size();
}

std::span<const StepBorder> StepIndex::of(int rank) const {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? std::span<const StepBorder>() : found->second;
}

const StepBorder* StepIndex::find(int rank, std::int64_t step) const {
  const auto steps = of(rank);
  // Numbers grow with time unless a run was resumed; then the list is short enough to look through.
  const auto guess = std::ranges::lower_bound(steps, step, {}, &StepBorder::step);
  if (guess != steps.end() && guess->step == step) return &*guess;
  const auto found = std::ranges::find(steps, step, &StepBorder::step);
  return found == steps.end() ? nullptr : &*found;
}

const StepBorder* StepIndex::at(int rank, std::int64_t time_ns) const {
  const auto steps = of(rank);
  const auto found = last_begun(steps, time_ns);
  return found == steps.end() || found->end_ns <= time_ns ? nullptr : &*found;
}

const StepBorder* StepIndex::nearest(int rank, std::int64_t time_ns) const {
  const auto steps = of(rank);
  if (steps.empty()) return nullptr;
  const auto found = last_begun(steps, time_ns);
  if (found == steps.end()) return &steps.front();
  const auto next = found + 1;
  const bool in_gap = found->end_ns <= time_ns && next != steps.end();
  return in_gap && next->start_ns - time_ns < time_ns - found->end_ns ? &*next : &*found;
}

const StepBorder* StepIndex::longest(int rank, std::int64_t until_ns) const {
  const StepBorder* longest = nullptr;
  for (const StepBorder& step : of(rank)) {
    if (step.end_ns > until_ns) continue;
    if (longest == nullptr || step.length_ns() > longest->length_ns()) longest = &step;
  }
  return longest;
}

std::span<const StepBorder> StepIndex::within(int rank, std::int64_t start_ns,
                                              std::int64_t end_ns) const {
  const auto steps = of(rank);
  auto first = last_begun(steps, start_ns);
  if (first == steps.end()) {
    first = steps.begin();
  } else if (first->end_ns <= start_ns) {
    ++first;
  }
  return begun_before({first, steps.end()}, end_ns);
}

std::span<const StepBorder> begun_before(std::span<const StepBorder> steps, std::int64_t time_ns) {
  return {steps.begin(), std::ranges::lower_bound(steps, time_ns, {}, &StepBorder::start_ns)};
}

std::int64_t step_shift(const StepIndex& steps, int rank, std::int64_t time_ns) {
  const StepBorder* pivot = steps.nearest(steps.reference_rank(), time_ns);
  const StepBorder* own = pivot == nullptr ? nullptr : steps.find(rank, pivot->step);
  return own == nullptr ? 0 : own->start_ns - pivot->start_ns;
}

std::vector<std::int64_t> step_shifts(const trace::timeline::TimelineRows& rows,
                                      const StepIndex& steps, std::int64_t time_ns) {
  std::vector<std::int64_t> shifts;
  shifts.reserve(rows.ranks.size());
  for (const auto& rank : rows.ranks) shifts.push_back(step_shift(steps, rank.rank, time_ns));
  return shifts;
}

}  // namespace shardlens::ui::inspect
