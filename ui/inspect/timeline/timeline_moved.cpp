#include "ui/inspect/timeline/timeline_moved.h"

#include <algorithm>

namespace shardlens::ui::inspect {

using trace::timeline::StepBorder;
using trace::timeline::TimelineRows;

TimeInterval shown_event(const TimelineState& state, const TimelineRows& rows,
                         const StepIndex& steps, const trace::timeline::EventPlace& place) {
  const auto row = static_cast<std::size_t>(place.row);
  const bool is_moved = state.aligned_by_step && place.row >= 0 && row < rows.rows.size();
  const std::int64_t shift = is_moved ? step_shift(steps, rows.rows[row].rank, place.start_ns) : 0;
  return {place.start_ns - shift, place.end_ns - shift};
}

std::optional<TimeInterval> shown_step(const TimelineState& state, const TimelineRows& rows,
                                       const StepIndex& steps, std::int64_t step) {
  const StepBorder* pivot =
      state.aligned_by_step ? steps.find(steps.reference_rank(), step) : nullptr;
  std::optional<TimeInterval> shown;
  for (const auto& rank : rows.ranks) {
    const StepBorder* own = steps.find(rank.rank, step);
    if (own == nullptr) continue;
    const std::int64_t shift = pivot == nullptr ? 0 : own->start_ns - pivot->start_ns;
    const TimeInterval moved{own->start_ns - shift, own->end_ns - shift};
    if (!shown) shown = moved;
    shown = TimeInterval{std::min(shown->start_ns, moved.start_ns),
                         std::max(shown->end_ns, moved.end_ns)};
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
