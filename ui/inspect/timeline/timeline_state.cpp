#include "ui/inspect/timeline/timeline_state.h"

#include <algorithm>

#include "trace/base/saturated.h"

namespace shardlens::ui::inspect {

using trace::timeline::StepBorder;
using trace::timeline::TimelineRows;

namespace {

// `rank`: -1 for what no rank has to itself.
trace::base::Interval moved(const TimelineState& state, const StepIndex& steps, int rank,
                            trace::base::Interval time) {
  const std::int64_t shift = state.aligned_by_step ? step_shift(steps, rank, time.start_ns) : 0;
  return {trace::base::saturated_difference(time.start_ns, shift),
          trace::base::saturated_difference(time.end_ns, shift)};
}

void extend(std::optional<trace::base::Interval>& whole, const trace::base::Interval& part) {
  if (!whole) whole = part;
  whole = trace::base::Interval{std::min(whole->start_ns, part.start_ns),
                                std::max(whole->end_ns, part.end_ns)};
}

}  // namespace

trace::base::Interval shown_event(const TimelineState& state, const TimelineRows& rows,
                                  const StepIndex& steps,
                                  const trace::timeline::EventPlace& place) {
  const trace::timeline::TimelineRow* row = rows.row_of(place.row);
  return moved(state, steps, row == nullptr ? -1 : row->rank, {place.start_ns, place.end_ns});
}

std::optional<trace::base::Interval> shown_ranges(
    const TimelineState& state, const StepIndex& steps,
    std::span<const trace::timeline::TimeRange> ranges) {
  std::optional<trace::base::Interval> shown;
  for (const trace::timeline::TimeRange& range : ranges) {
    const int rank = range.ranks.empty() ? -1 : range.ranks.front();
    extend(shown, moved(state, steps, rank, {range.start_ns, range.end_ns}));
  }
  return shown;
}

std::optional<trace::base::Interval> shown_step(const TimelineState& state,
                                                const TimelineRows& rows, const StepIndex& steps,
                                                std::int64_t step) {
  const StepBorder* pivot =
      state.aligned_by_step ? steps.find(steps.reference_rank(), step) : nullptr;
  std::optional<trace::base::Interval> shown;
  for (const auto& rank : rows.ranks) {
    const StepBorder* own = steps.find(rank.rank, step);
    if (own == nullptr) continue;
    const std::int64_t shift = pivot == nullptr ? 0 : own->start_ns - pivot->start_ns;
    extend(shown, {own->start_ns - shift, own->end_ns - shift});
  }
  return shown;
}

trace::timeline::TimeRange selected_range(const TimelineState& state, const TimelineRows& rows,
                                          const StepIndex& steps) {
  if (!state.selection) return {};
  trace::timeline::TimeRange range{state.selection->start_ns, state.selection->end_ns, {}};
  if (state.mode != TimelineState::Mode::kTime || !state.aligned_by_step) return range;
  const auto shifts = step_shifts(rows, steps, state.window.time_at(0.5));
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (shifts[i] != 0) range.shifts.emplace(rows.ranks[i].rank, shifts[i]);
  }
  return range;
}

}  // namespace shardlens::ui::inspect
