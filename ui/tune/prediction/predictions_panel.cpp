#include "ui/tune/prediction/predictions_panel.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "trace/timeline/words/interval_text.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui::tune {

namespace {

using present::HistoryChart;

constexpr float kWordsWidth = 330, kLeastWords = 200, kPlotTitle = 22, kTimeLabels = 58;
constexpr float kFoot = 18, kEdge = 8, kBetweenPlots = 28, kRunDot = 8, kCap = 4, kReach = 14;
constexpr float kScatterShare = 0.42f;  // of what the plots have

// Under its title, with room for labels at the left and below.
kit::Plot history_plot(const kit::Theme& theme, state::Rect rect, const char* title,
                       const char* note) {
  const state::Palette& p = theme.colors();
  state::Rect head = rect.take_top(theme.px(kPlotTitle));
  kit::take_text(theme, head, theme.px(10), kit::Face::kMedium, p.text_secondary, title);
  kit::label_in(theme, head, kit::Face::kSmall, p.text_muted, note);
  rect.take_left(theme.px(kTimeLabels));
  rect.take_bottom(theme.px(kFoot));
  return {rect.inset(theme.px(kEdge), theme.px(2))};
}

// Labels that would lie on the one before are left out.
void draw_time_grid(const kit::Theme& theme, const kit::Plot& plot, const HistoryChart& chart) {
  float free_below = INFINITY;
  for (const present::Tick& tick : chart.times) {
    const float y = plot.y(tick.at);
    const bool is_free = y + theme.px(8) <= free_below;
    kit::tick_left(theme, plot.area, y, is_free ? tick.label : "");
    if (is_free) free_below = y - theme.px(8);
  }
  kit::ticks_below(theme, plot, chart.times, theme.px(kEdge), theme.px(kBetweenPlots));
}

void draw_interval(const kit::Theme& theme, const kit::Plot& plot, float x, float low, float high) {
  kit::interval(theme, {x, plot.y(high)}, {x, plot.y(low)}, {theme.px(kCap), 0},
                kit::color(theme.colors().changed, 0.75f));
}

// What was measured: filled where the interval holds it, a cross where it does not.
void draw_run_mark(const kit::Theme& theme, float x, float y, const HistoryChart::Point& point,
                   bool is_picked) {
  const state::Palette& p = theme.colors();
  const float size = theme.px(is_picked ? kRunDot + 3 : kRunDot);
  kit::shape(kit::Shape::kDot, x, y, size + theme.px(3), kit::color(p.panel));
  const bool is_outside = point.has_interval && !point.is_within;
  kit::shape(is_outside ? kit::Shape::kCross : kit::Shape::kDot, x, y, size,
             kit::color(is_outside ? p.danger : p.text));
}

std::optional<std::size_t> nearest_point(
    const kit::Theme& theme, const HistoryChart& chart,
    const std::function<ImVec2(const HistoryChart::Point&)>& at) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> found;
  float least = theme.px(kReach);
  for (std::size_t i = 0; i < chart.points.size(); ++i) {
    const ImVec2 place = at(chart.points[i]);
    const float distance = std::hypot(place.x - mouse.x, place.y - mouse.y);
    if (distance >= least) continue;
    least = distance;
    found = i;
  }
  return found;
}

// Predicted upwards against measured; a run that took what was predicted lies on the diagonal.
void draw_scatter(const kit::Theme& theme, const kit::Plot& plot, const HistoryChart& chart,
                  const std::optional<std::size_t>& picked) {
  draw_time_grid(theme, plot, chart);
  const kit::Clip clip(plot.area.inset(-theme.px(kEdge), -theme.px(2)));
  kit::dashed_line(theme, plot.x(0), plot.y(0), plot.x(1), plot.y(1),
                   kit::color(theme.colors().text_muted));
  for (const auto& point : chart.points) {
    if (point.has_interval) {
      draw_interval(theme, plot, plot.x(point.measured), point.low, point.high);
    }
  }
  for (const auto& point : chart.points) {
    draw_run_mark(theme, plot.x(point.measured), plot.y(point.predicted), point,
                  picked && &chart.points[*picked] == &point);
  }
}

// From the first run to the last: how far each was from its prediction.
void draw_errors(const kit::Theme& theme, const kit::Plot& plot, const HistoryChart& chart,
                 const std::vector<present::TestedPrediction>& tested,
                 const std::optional<std::size_t>& picked) {
  const state::Palette& p = theme.colors();
  for (const present::Tick& tick : chart.errors) {
    kit::tick_left(theme, plot.area, plot.y(tick.at), tick.label);
  }
  const float none = std::round(plot.y(chart.no_error));
  kit::dashed_line(theme, plot.area.x, none, plot.area.right(), none, kit::color(p.text_muted));
  float free_from = plot.area.x;
  for (std::size_t i = 0; i < tested.size(); ++i) {
    const float width = kit::text_width(theme, kit::Face::kSmall, tested[i].run);
    const float x = plot.x(chart.points[i].run) - width / 2;
    if (x < free_from || x + width > plot.area.right() + theme.px(kEdge)) continue;
    kit::note_in(theme, {x, plot.area.bottom() + theme.px(3), width, theme.px(14)}, tested[i].run);
    free_from = x + width + theme.px(10);
  }
  const kit::Clip clip(plot.area.inset(-theme.px(kEdge), -theme.px(2)));
  for (std::size_t i = 0; i < tested.size(); ++i) {
    const auto& point = chart.points[i];
    const float x = plot.x(point.run);
    if (point.has_interval) draw_interval(theme, plot, x, point.error_low, point.error_high);
    draw_run_mark(theme, x, plot.y(point.error), point, picked == i);
  }
}

}  // namespace

void PredictionsPanel::draw_words(const kit::Theme& theme, state::Rect rect) const {
  const state::Palette& p = theme.colors();
  bool is_first = true;
  for (const std::string& words : words_) {
    const kit::Face face = is_first ? kit::Face::kStrong : kit::Face::kBody;
    kit::take_wrapped(theme, rect, theme.px(5), face, is_first ? p.text : p.text_secondary, words);
    is_first = false;
  }
}

void PredictionsPanel::explain(const kit::Theme& theme, std::size_t point) const {
  const auto& of = history_.tested[point];
  const auto text = [](double ns) { return present::format_duration(ns).text(); };
  const kit::TooltipScope scope(theme);
  scope.title(of.run == of.name ? of.run : of.run + " · " + of.name);
  scope.row("Predicted", text(of.predicted_ns));
  if (of.interval) {
    scope.row("95 % interval",
              trace::timeline::duration_range_text(of.interval->low_ns, of.interval->high_ns));
  }
  scope.row("Measured", text(of.measured_ns));
  scope.row("Off by", present::format_signed_percent(of.error()));
  if (!of.from.empty()) scope.note("Predicted from “" + of.from + "”, before it ran");
  scope.note("Click shows it");
}

void PredictionsPanel::pick(const kit::Theme& theme, const std::optional<std::size_t>& point,
                            bool clicked, state::Commands& commands) const {
  if (!point) return;
  explain(theme, *point);
  if (clicked) commands.push_back(state::ShowRun{history_.tested[*point].folder});
}

void PredictionsPanel::draw(const kit::Theme& theme, const state::Rect& rect,
                            const state::Snapshot& snapshot, state::Commands& commands) {
  if (snapshot.ledger != ledger_ || words_.empty()) {
    ledger_ = snapshot.ledger;
    history_ = present::prediction_history(ledger_ ? *ledger_ : state::Ledger{});
    words_ = present::history_words(history_);
    if (history_.tested.empty()) {
      words_.emplace_back(
          "Change a setting in Tune and press Start: what is predicted then is kept with the run "
          "and stands here beside what it took.");
    }
    chart_ = present::history_chart(history_);
  }
  state::Rect rest = rect;
  if (!chart_) return draw_words(theme, rest);
  const float words = std::clamp(theme.px(kWordsWidth), theme.px(kLeastWords), rest.w / 3);
  draw_words(theme, rest.take_left(words, theme.px(kBetweenPlots)));
  const state::Rect left = rest.take_left(rest.w * kScatterShare, theme.px(kBetweenPlots));
  const kit::Plot scatter = history_plot(theme, left, "Predicted ↑ against measured →",
                                         "bars: 95 % interval · dashed: as predicted");
  const kit::Plot errors = history_plot(theme, rest, "Measured beside predicted",
                                        "oldest first · bars: 95 % interval · crosses: outside");
  if (scatter.area.empty() || errors.area.empty()) return;
  const auto in_scatter = [&](const HistoryChart::Point& point) {
    return ImVec2{scatter.x(point.measured), scatter.y(point.predicted)};
  };
  const auto in_errors = [&](const HistoryChart::Point& point) {
    return ImVec2{errors.x(point.run), errors.y(point.error)};
  };
  const kit::Hit over_scatter = kit::mouse_area(theme, "predictions/scatter", left);
  const kit::Hit over_errors = kit::mouse_area(theme, "predictions/errors", rest);
  std::optional<std::size_t> picked;
  if (over_scatter.hovered) picked = nearest_point(theme, *chart_, in_scatter);
  if (over_errors.hovered) picked = nearest_point(theme, *chart_, in_errors);
  draw_scatter(theme, scatter, *chart_, picked);
  draw_errors(theme, errors, *chart_, history_.tested, picked);
  pick(theme, picked, over_scatter.clicked || over_errors.clicked, commands);
}

}  // namespace shardlens::ui::tune
