#include "ui/inspect/tabs/straggler_tab.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

constexpr std::string_view kStragglerDefinition =
    "Wait = latest start over the ranks of the group − own start, at most to its own end. "
    "Transfer = end − latest start. \"Wait it caused\" is what the other ranks waited, added up, "
    "in the collectives that the rank was last in; \"of that alone\" is how much earlier those "
    "would have begun had it come with the rank before it";

std::string completeness(const trace::timeline::StragglerFigures& figures) {
  std::string text;
  const auto shown = static_cast<std::int64_t>(figures.calls.size());
  if (shown < figures.matched) {
    text += "The " + present::format_integer(shown) + " with the longest waits of " +
            present::format_integer(figures.matched) + ". ";
  }
  if (figures.unmatched > 0) {
    text +=
        present::format_integer(figures.unmatched) +
        " left out: without a sequence number, between two ranks, or not all ranks of the group "
        "are in the range. ";
  }
  if (figures.clock_error_ns == trace::analysis::kUnknownClockError) {
    text +=
        "Nothing tells how far the clocks of some hosts are apart, as no all-reduce or the like "
        "connects them: waits and lateness between them are not known, and not counted.";
  } else if (figures.clock_error_ns > 0) {
    text += "The hosts' clocks may be " + present::duration_text(figures.clock_error_ns) +
            " apart: no shorter wait or lateness is told or counted.";
  }
  return text;
}

// That of the rank that came last, where that is told.
const trace::timeline::StragglerPart& shown_part(const trace::timeline::StragglerCall& call) {
  const trace::timeline::StragglerPart* last = call.part_of(call.last_rank);
  return last != nullptr ? *last : call.parts.front();
}

// The same call among others: a run that goes on is counted anew again and again.
std::optional<std::size_t> find_call(const trace::timeline::StragglerFigures& figures,
                                     const trace::timeline::StragglerCall& call) {
  const trace::timeline::StragglerPart& wanted = shown_part(call);
  const auto found = std::ranges::find_if(figures.calls, [&](const auto& other) {
    const trace::timeline::StragglerPart* part = other.part_of(wanted.rank);
    return part != nullptr && part->ref.exists() && part->ref == wanted.ref;
  });
  if (found == figures.calls.end()) return std::nullopt;
  return static_cast<std::size_t>(found - figures.calls.begin());
}

}  // namespace

void StragglerTab::draw_tools(const kit::Theme& theme, state::Rect tools,
                              const state::InspectView& view, state::Commands& commands) {
  table::table_buttons(
      theme, "stragglers", tools, table::export_file_name(view.run_folder, "stragglers", "csv"),
      [this] { return view_.csv(); }, commands);
  const float field = std::min(theme.px(220), tools.w);
  if (field < theme.px(80)) return;
  const state::Rect filter = tools.take_left(field, theme.px(12));
  table::filter_field(theme, "stragglers/filter", filter.inset(0, (filter.h - theme.px(26)) / 2),
                      filter_, "Filter by collective");
  kit::text_in(theme, tools, kit::Face::kSmall, theme.colors().text_secondary,
               straggler_summary(*run_.figures));
  kit::explain(theme, tools, "Stragglers", kStragglerDefinition, completeness(*run_.figures));
}

void StragglerTab::explain_cell(const kit::Theme& theme, const table::TableEvents& events) const {
  const trace::timeline::StragglerCall& call = run_.figures->calls[*events.hovered];
  const int rank = rank_of_column(run_.columns, events.column);
  const trace::timeline::StragglerPart* part = rank < 0 ? nullptr : call.part_of(rank);
  if (part == nullptr) return;
  const kit::TooltipScope scope(theme);
  scope.title("Rank " + std::to_string(rank) + " in " + call_name(call));
  const auto time = [](std::optional<std::int64_t> ns) {
    if (!ns) return std::string("not known");
    return *ns == 0 ? std::string("none") : present::duration_text(*ns);
  };
  scope.row("Later than the first rank", time(part->late_ns));
  if (!part->has_left) {
    scope.row("Wait for the last rank", time(part->wait_ns));
    scope.row("Transfer", time(part->transfer_ns));
  }
  if (trace::model::has_bytes(call)) {
    scope.row("Size", present::bytes_text(call.bytes));
  }
  if (call.last_rank == rank) scope.note("It came last: the others waited for it");
  if (part->has_left) scope.note("It ended before the last rank began: it waited for nobody");
}

std::vector<trace::timeline::TimeRange> StragglerTab::go_to(std::size_t row,
                                                            state::Commands& commands) const {
  const trace::timeline::StragglerCall& call = run_.figures->calls[row];
  const trace::timeline::EventRef& ref = shown_part(call).ref;
  if (ref.exists()) commands.push_back(state::PickEvent{ref});
  std::vector<trace::timeline::TimeRange> ranges;
  for (const trace::timeline::StragglerPart& each : call.parts) {
    const std::int64_t margin = std::max<std::int64_t>(2, each.end_ns - each.start_ns) / 2;
    ranges.push_back({each.start_ns - margin, each.end_ns + margin, {each.rank}});
  }
  return ranges;
}

std::vector<trace::timeline::TimeRange> StragglerTab::draw(const kit::Theme& theme,
                                                           const state::Rect& rect,
                                                           const state::InspectView& view,
                                                           state::Commands& commands) {
  if (!view.range || !view.range->stragglers) {
    kit::empty_note(theme, rect,
                    view.range
                        ? "Waits are known where at least two ranks recorded the same collectives"
                        : "Counting the collectives of the whole run…");
    return {};
  }
  const bool is_other = view.range->stragglers != run_.figures;
  if (is_other && run_.picked) {
    run_.picked = find_call(*view.range->stragglers, run_.figures->calls[*run_.picked]);
  }
  run_.figures = view.range->stragglers;
  StragglerColumns columns = straggler_columns(*run_.figures, rect.w / theme.scale);
  if (is_other || !run_.table || columns != run_.columns) {
    run_.columns = std::move(columns);
    run_.table = straggler_table(run_.figures, run_.columns);
  }
  state::Rect area = rect;
  if (rect.h > theme.px(130))
    draw_tools(theme, area.take_top(theme.px(table::kToolsHeight)), view, commands);
  const table::TableEvents events =
      view_.draw(theme, area, run_.table,
                 {.filter = filter_,
                  .selected = run_.picked,
                  .empty = "No collective of the range has all its ranks in it",
                  .scrolls_sideways = true});
  if (events.hovered) explain_cell(theme, events);
  if (!events.clicked) return {};
  run_.picked = events.clicked;
  return go_to(*events.clicked, commands);
}

}  // namespace shardlens::ui::inspect
