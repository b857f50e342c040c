// The same collective on every rank: a part of ui/inspect/details/details_panel.h.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/steps/host_clocks.h"
#include "ui/inspect/details/details_panel.h"
#include "ui/inspect/timeline/timeline_state.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

namespace {

// Of more ranks the extremes are shown, the rest as one line.
constexpr std::size_t kMostCalls = 24, kShownOfMany = 16;
constexpr float kCallRow = 18, kCallsTitle = 30, kCallsLegend = 26;

state::Rgb wait_color(const state::Palette& p) { return state::mix(p.panel, p.exposed, 0.45); }

state::Rgb transfer_color(const state::Palette& p, const trace::timeline::EventDetails& details) {
  return details.piece_class == trace::base::TimeClass::kExposed ? p.exposed : p.overlapped;
}

void explain_call(const kit::Theme& theme, const trace::timeline::EventDetails& details,
                  const trace::timeline::RankCall& call) {
  const state::Palette& p = theme.colors();
  const state::Rgb waiting = wait_color(p), transfer = transfer_color(p, details);
  const kit::TooltipScope scope(theme);
  scope.title("Rank " + std::to_string(call.rank));
  constexpr std::string_view kWait = "Wait for the last rank";
  if (const auto& wait = call.wait.wait_ns) {
    scope.row(&waiting, kWait, *wait > 0 ? present::duration_text(*wait) : "none");
    const auto& moves = call.wait.transfer_ns;
    const bool is_known = moves || call.wait.has_left;
    scope.row(&transfer, "Transfer",
              !is_known               ? "not known"
              : moves.value_or(0) > 0 ? present::duration_text(*moves)
                                      : "none");
  } else {
    scope.row(&waiting, kWait, "not known");
  }
  scope.row("Whole", present::duration_text(call.end_ns - call.start_ns));
  scope.note(
      "Wait: latest start over the ranks − own start, at most to its own end. Transfer: end − "
      "latest start. Click goes there");
}

void draw_call(const kit::Theme& theme, const state::Rect& row, float label_width,
               const trace::timeline::EventDetails& details, const trace::timeline::RankCall& call,
               const trace::base::Interval& span) {
  const state::Palette& p = theme.colors();
  state::Rect bars = row;
  const state::Rect label = bars.take_left(label_width, theme.px(8));
  const bool own = call.rank == details.place.ref.rank;
  kit::text_in(theme, label, kit::Face::kSmall, own ? p.text : p.text_secondary,
               "rank " + std::to_string(call.rank));
  const auto total = static_cast<double>(std::max<std::int64_t>(1, span.length()));
  const auto x_of = [&](std::int64_t ns) {
    const double at = std::clamp(static_cast<double>(ns - span.start_ns) / total, 0.0, 1.0);
    return std::round(bars.x + bars.w * static_cast<float>(at));
  };
  const float height = theme.px(10);
  const float y = std::round(bars.center_y() - height / 2);
  const std::int64_t wait = call.wait.wait_ns.value_or(0);
  const float begin = x_of(call.start_ns), middle = x_of(call.start_ns + wait);
  const float end = std::max(middle + 1, x_of(call.end_ns));
  kit::fill({begin, y, middle - begin, height}, kit::color(wait_color(p)), theme.px(2));
  const state::Rgb rest = call.wait.has_left ? p.idle_edge : transfer_color(p, details);
  kit::fill({middle, y, end - middle, height}, kit::color(rest), theme.px(2));
  if (own) kit::outline({begin, y - 1, end - begin, height + 2}, kit::color(p.text), theme.px(2));
}

void draw_calls_legend(const kit::Theme& theme, state::Rect row,
                       const trace::timeline::EventDetails& details) {
  const state::Palette& p = theme.colors();
  const auto entry = [&](state::Rgb ink, std::string_view word) {
    const state::Rect mark = kit::legend_entry(theme, row, 8, word, p.text_secondary);
    if (!mark.empty()) kit::fill(kit::swatch_in(mark), kit::color(ink), theme.px(2));
  };
  entry(wait_color(p), "wait");
  entry(transfer_color(p, details), "transfer");
  if (details.clock_error_ns < 0) return;
  const bool is_known = details.clock_error_ns != trace::analysis::kUnknownClockError;
  const std::string error = is_known
                                ? "clock error ± " + present::duration_text(details.clock_error_ns)
                                : "clock error not known";
  kit::label_in(theme, row, kit::Face::kSmall, p.text_muted, error, kit::Align::kRight);
  kit::explain(theme, row, "Clock error",
               "How far the hosts' clocks may be apart. Waits shorter than that are not drawn");
}

struct ShownCalls {
  std::vector<const trace::timeline::RankCall*> calls;
  std::vector<const trace::timeline::RankCall*> rest;
};

// Of many ranks: the one that was picked, then those that came last, who kept the others waiting.
ShownCalls shown_calls(const trace::timeline::EventDetails& details) {
  ShownCalls shown;
  for (const trace::timeline::RankCall& call : details.calls) shown.calls.push_back(&call);
  if (shown.calls.size() <= kMostCalls) return shown;
  std::ranges::stable_sort(shown.calls, {}, [&](const trace::timeline::RankCall* call) {
    const bool own = call->rank == details.place.ref.rank;
    return std::pair(!own, -call->start_ns);
  });
  const auto end = shown.calls.begin() + kShownOfMany;
  shown.rest.assign(end, shown.calls.end());
  shown.calls.erase(end, shown.calls.end());
  return shown;
}

std::string rest_text(const std::vector<const trace::timeline::RankCall*>& rest) {
  const std::string more =
      "and " + present::format_integer(static_cast<std::int64_t>(rest.size())) + " more";
  std::vector<std::int64_t> waits;
  for (const trace::timeline::RankCall* call : rest) {
    if (call->wait.wait_ns) waits.push_back(*call->wait.wait_ns);
  }
  if (waits.empty()) return more;
  const auto [least, most] = std::ranges::minmax(waits);
  return more + ": waits of " +
         (least == most ? present::duration_text(least)
                        : present::duration_text(least) + " to " + present::duration_text(most)) +
         (waits.size() < rest.size() ? ", others not known" : "");
}

}  // namespace

float calls_height(const kit::Theme& theme, const trace::timeline::EventDetails& details) {
  if (details.calls.size() < 2) return 0;
  const bool many = details.calls.size() > kMostCalls;
  const std::size_t rows = many ? kShownOfMany + 1 : details.calls.size();
  return theme.px(kCallsTitle + kCallsLegend) + theme.px(kCallRow) * static_cast<float>(rows);
}

void draw_calls(const kit::Theme& theme, const state::Rect& rect,
                const trace::timeline::EventDetails& details, state::Commands& commands) {
  if (details.calls.size() < 2) return;
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  kit::text_in(theme, rest.take_top(theme.px(kCallsTitle)), kit::Face::kStrong, p.text,
               "The same collective on every rank");
  using trace::timeline::RankCall;
  const trace::base::Interval span{
      std::ranges::min_element(details.calls, {}, &RankCall::start_ns)->start_ns,
      std::ranges::max_element(details.calls, {}, &RankCall::end_ns)->end_ns};
  float label_width = 0;
  for (const trace::timeline::RankCall& call : details.calls) {
    label_width = std::max(label_width, kit::text_width(theme, kit::Face::kSmall,
                                                        "rank " + std::to_string(call.rank)));
  }
  const ShownCalls shown = shown_calls(details);
  for (const trace::timeline::RankCall* each : shown.calls) {
    const trace::timeline::RankCall& call = *each;
    const state::Rect row = rest.take_top(theme.px(kCallRow));
    const kit::Hit hit = kit::hit_area(theme, "details/rank " + std::to_string(call.rank), row);
    if (hit.hovered) kit::fill(row.inset(-theme.px(4), 0), kit::color(p.hover), theme.px(3));
    draw_call(theme, row, std::ceil(label_width), details, call, span);
    if (hit.clicked && call.place.ref.exists()) commands.push_back(state::GoToEvent{call.place});
    if (hit.hovered) explain_call(theme, details, call);
  }
  if (!shown.rest.empty()) {
    kit::note_in(theme, rest.take_top(theme.px(kCallRow)), rest_text(shown.rest));
  }
  draw_calls_legend(theme, rest.take_top(theme.px(kCallsLegend)), details);
}

}  // namespace shardlens::ui::inspect
