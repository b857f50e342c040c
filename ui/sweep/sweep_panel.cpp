#include "ui/sweep/sweep_panel.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/sweep/sweep_table.h"
#include "ui/present/sweep/sweep_words.h"
#include "ui/sweep/sweep_plots.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::sweep {

namespace {

constexpr float kHead = 36, kSmallLine = 18, kGap = 8, kButtonHeight = 30;
constexpr float kTableRow = 26, kTableHead = 70, kLeastPictures = 220;
constexpr float kMostTableShare = 0.42f, kPictureShare = 0.56f;
constexpr std::size_t kMostRemarks = 3;

using Shown = state::ShownSweep;

bool can_resume(const Shown& sweep, const state::SweepView& view) {
  return sweep.phase == state::SweepPhase::kUnfinished && !sweep.is_complete() &&
         view.running.empty();
}

void draw_progress(const kit::Theme& theme, state::Rect box, const Shown& sweep) {
  const state::Palette& p = theme.colors();
  const bool has_bar = sweep.phase != state::SweepPhase::kDone && !sweep.search;
  if (has_bar) {
    const state::Rect bar =
        box.take_left(theme.px(140), theme.px(12)).inset(0, (box.h - theme.px(6)) / 2);
    kit::fill(bar, kit::color(p.field_edge), theme.px(3));
    kit::fill({bar.x, bar.y, bar.w * present::sweep_progress(sweep), bar.h}, kit::color(p.accent),
              theme.px(3));
  }
  const std::string text = present::sweep_progress_text(sweep);
  kit::text_in(theme, box, kit::Face::kBody, p.text_secondary, text);
  kit::explain(theme, box, "How far it is", text);
}

// Which sweep, how far it is, and what can be done with it.
void draw_head(const kit::Theme& theme, state::Rect row, const state::SweepView& view,
               state::Commands& commands) {
  row = row.inset(0, (row.h - theme.px(kButtonHeight)) / 2);
  if (kit::button_at_right(theme, "sweep/search", row, kit::ButtonKind::kQuiet, "Search…")) {
    commands.push_back(state::OpenSweepCard{.searches = true});
  }
  if (kit::button_at_right(theme, "sweep/new", row, kit::ButtonKind::kQuiet, "New sweep…")) {
    commands.push_back(state::OpenSweepCard{});
  }
  if (!view.names.empty()) {
    const std::vector<std::string_view> names(view.names.begin(), view.names.end());
    std::string name = view.shown ? view.shown->name : "";
    const float width = std::min(theme.px(260), row.w / 3);
    if (kit::choice_field(theme, "sweep/choose", row.take_left(width, theme.px(16)), name, names,
                          false)) {
      commands.push_back(state::ShowSweep{name});
    }
  }
  if (!view.shown) return;
  const Shown& sweep = *view.shown;
  if (sweep.phase == state::SweepPhase::kRunning) {
    if (kit::button_at_right(theme, "sweep/stop", row, kit::ButtonKind::kDanger,
                             "Stop the sweep")) {
      commands.push_back(state::StopSweep{});
    }
  } else if (can_resume(sweep, view)) {
    if (kit::button_at_right(theme, "sweep/resume", row, kit::ButtonKind::kPrimary, "Resume")) {
      commands.push_back(state::ResumeSweep{sweep.name});
    }
  }
  draw_progress(theme, row, sweep);
}

// All settings that it was run with: with others it need not be what it was.
void apply_point(const Shown& sweep, std::size_t point, const trace::job::Settings& next,
                 state::Commands& commands) {
  const auto& settings = sweep.points[point].settings;
  for (const auto* knob : present::knobs_to_set(sweep, point, next)) {
    commands.push_back(
        state::SetKnob{std::string(knob->name), trace::job::value_text(settings, *knob)});
  }
}

void draw_is_set(const kit::Theme& theme, state::Rect& row, const std::string& best) {
  const state::Palette& p = theme.colors();
  const std::string text = "Settings of the " + best + " stand in Tune";
  const float width = kit::text_width(theme, kit::Face::kSmall, text) + theme.px(22);
  state::Rect box = row.take_right(std::min(width, row.w / 2), theme.px(16));
  box.h = theme.px(kButtonHeight);
  const state::Rect mark = box.take_left(theme.px(14), theme.px(6));
  kit::shape(kit::Shape::kCheck, mark.center_x(), mark.center_y(), theme.px(12),
             kit::color(p.text_secondary));
  kit::text_in(theme, box, kit::Face::kSmall, p.text_secondary, text);
}

// The button that sets the settings of the best in Tune; takes its room from the right of
// `row`.
void draw_apply(const kit::Theme& theme, state::Rect& row, const Shown& sweep,
                const state::Snapshot& snapshot, state::Commands& commands) {
  if (!sweep.best) return;
  const trace::job::Settings& next = snapshot.knobs.next;
  const std::string best = present::keeps_start(sweep) ? "start" : "best mean";
  if (present::knobs_to_set(sweep, *sweep.best, next).empty()) return draw_is_set(theme, row, best);
  const std::string label = "Apply " + present::sweep_point_text(sweep, *sweep.best);
  const float width =
      std::min(kit::button_width(theme, label, kit::ButtonKind::kPrimary), row.w / 2);
  const state::Rect box = row.take_right(width, theme.px(16));
  const state::Rect button{box.x, box.y, box.w, theme.px(kButtonHeight)};
  if (kit::button(theme, "sweep/apply", button, kit::ButtonKind::kPrimary, label)) {
    apply_point(sweep, *sweep.best, next, commands);
  }
  const std::string others = present::other_settings(sweep, next);
  kit::explain(theme, button, label,
               "Sets all that the " + best + " was run with for the next run, in Tune" +
                   (others.empty() ? "" : ": also " + others));
}

// Lines under the verdict, small and grey.
std::vector<std::string> notes_of(const Shown& sweep, bool has_dashes,
                                  const state::Snapshot& snapshot) {
  std::vector<std::string> notes;
  if (const auto others = present::other_settings(sweep, snapshot.knobs.next); !others.empty()) {
    notes.push_back("In Tune stand other settings than in this sweep, which Apply sets back: " +
                    others);
  }
  if (has_dashes && sweep.search) {
    notes.push_back(
        "Dashed: predicted before a point's first run; of what has not run, by all runs so far");
  } else if (has_dashes) {
    notes.push_back("Dashed: predicted from the run “" + sweep.predicted_from +
                    "” alone, before a point's own runs");
  }
  if (sweep.search && !sweep.search->ended.empty()) notes.push_back(sweep.search->ended);
  // What is said of the run on screen stands above.
  const auto is_said = [&](const std::string& banner) {
    return snapshot.run &&
           std::ranges::find(snapshot.run->banners, banner) != snapshot.run->banners.end();
  };
  std::ranges::remove_copy_if(sweep.banners, std::back_inserter(notes), is_said);
  const auto remarks = present::sweep_remarks(sweep);
  for (std::size_t i = 0; i < std::min(remarks.size(), kMostRemarks); ++i) {
    notes.push_back(remarks[i]);
  }
  if (remarks.size() > kMostRemarks) {
    notes.push_back("and " + std::to_string(remarks.size() - kMostRemarks) +
                    " more, told by the table's rows");
  }
  return notes;
}

std::string verdict_text(const Shown& sweep) {
  if (!sweep.why.empty()) return sweep.why;
  return sweep.problem.empty() ? "No run has ended yet" : "";
}

// Takes its room from the top of `rest`.
void draw_verdict(const kit::Theme& theme, state::Rect& rest, const Shown& sweep, bool has_dashes,
                  const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect row = rest;
  draw_apply(theme, row, sweep, snapshot, commands);
  const std::string verdict = verdict_text(sweep);
  float height = kit::wrapped_height(theme, kit::Face::kStrong, row.w, verdict);
  if (sweep.best) height = std::max(height, theme.px(kButtonHeight));
  kit::text_wrapped(theme, {row.x, row.y, row.w, height}, kit::Face::kStrong, p.text, verdict);
  rest.take_top(height, theme.px(4));
  if (!sweep.problem.empty()) {
    const float lines = kit::wrapped_height(theme, kit::Face::kBody, rest.w, sweep.problem);
    kit::text_wrapped(theme, rest.take_top(lines, theme.px(4)), kit::Face::kBody, p.danger,
                      sweep.problem);
  }
  for (const std::string& note : notes_of(sweep, has_dashes, snapshot)) {
    const state::Rect line = rest.take_top(theme.px(kSmallLine));
    kit::text_in(theme, line, kit::Face::kSmall, p.text_muted, note);
    kit::explain(theme, line, "About this sweep", note);
  }
  rest.take_top(theme.px(kGap));
}

void draw_empty(const kit::Theme& theme, const state::Rect& rect, const state::SweepView* view) {
  const state::Palette& p = theme.colors();
  const bool is_loading = view == nullptr || view->is_loading;
  state::Rect box = rect.inset(theme.px(24), theme.px(24));
  kit::text_in(theme, box.take_top(theme.px(24)), kit::Face::kStrong, p.text,
               is_loading ? "Reading the library's sweeps…" : "No sweep yet");
  if (is_loading) return;
  kit::text_wrapped(theme, box, kit::Face::kBody, p.text_secondary,
                    "A sweep tries many values of one or more settings, each several times in "
                    "random order, and says which is best beyond noise; a search runs only those "
                    "that may win by what is predicted. Make one here, in Tune beside Start, or "
                    "with shardlens sweep and shardlens tune");
}

}  // namespace

void SweepPanel::prepare(const std::shared_ptr<const Shown>& sweep) {
  if (prepared_.of == sweep) return;
  if (!prepared_.of || prepared_.of->name != sweep->name) selected_.reset();
  prepared_.of = sweep;
  prepared_.curve = present::sweep_curve(*sweep);
  prepared_.map = present::heat_map(*sweep);
  prepared_.ranking.reset();
  if (!prepared_.curve && !prepared_.map) prepared_.ranking = present::sweep_ranking(*sweep);
  prepared_.pareto = present::pareto_chart(*sweep);
  prepared_.table = std::make_shared<const present::Table>(present::sweep_table(sweep));
  if (selected_ && *selected_ >= sweep->points.size()) selected_.reset();
}

bool SweepPanel::has_dashes() const {
  for (const auto* curve : {&prepared_.curve, &prepared_.ranking}) {
    if (*curve) {
      return std::ranges::any_of((*curve)->points,
                                 [](const auto& point) { return point.predicted.has_value(); });
    }
  }
  return prepared_.map && std::ranges::any_of(prepared_.map->cells,
                                              [](const auto& cell) { return cell.is_prediction; });
}

void SweepPanel::draw_pictures(const kit::Theme& theme, state::Rect rect) {
  const PlotInput input{*prepared_.of, selected_};
  std::optional<std::size_t> clicked;
  if (prepared_.curve || prepared_.map || prepared_.ranking) {
    const float width = prepared_.pareto ? std::floor(rect.w * kPictureShare) : rect.w;
    const state::Rect box = rect.take_left(width, theme.px(24));
    clicked = prepared_.curve ? draw_sweep_curve(theme, box, input, *prepared_.curve)
              : prepared_.map ? draw_heat_map(theme, box, input, *prepared_.map)
                              : draw_sweep_ranking(theme, box, input, *prepared_.ranking);
  }
  if (prepared_.pareto) {
    const auto other = draw_pareto(theme, rect, input, *prepared_.pareto);
    if (other) clicked = other;
  }
  if (clicked) selected_ = selected_ == clicked ? std::nullopt : clicked;
}

void SweepPanel::draw_points(const kit::Theme& theme, const state::Rect& rect,
                             const trace::job::Settings& next, state::Commands& commands) {
  const Shown& sweep = *prepared_.of;
  state::Rect rest = rect;
  state::Rect tools = rest.take_top(theme.px(table::kToolsHeight));
  const std::string file = table::export_file_name(sweep.name, "sweep", "csv");
  table::table_buttons(
      theme, "sweep", tools, file, [this] { return table_.csv(); }, commands);
  const state::Palette& p = theme.colors();
  tools.take_left(kit::text_in(theme, tools, kit::Face::kHeading, p.heading, "Points"),
                  theme.px(16));
  kit::label_in(theme, tools, kit::Face::kSmall, p.text_muted,
                "Click marks a point in the pictures · right-click for more", kit::Align::kRight);
  const auto events =
      table_.draw(theme, rest, prepared_.table, {.selected = selected_, .empty = "No points"});
  if (events.clicked) selected_ = selected_ == events.clicked ? std::nullopt : events.clicked;
  if (events.right_clicked) {
    menu_of_ = *events.right_clicked;
    ImGui::OpenPopup("sweep point menu");
  }
  if (menu_of_ >= sweep.points.size()) return;
  constexpr std::string_view kEntries[] = {"Set its settings in Tune"};
  if (table::row_menu(theme, "sweep point menu", "sweep/menu",
                      present::sweep_point_text(sweep, menu_of_), kEntries)) {
    apply_point(sweep, menu_of_, next, commands);
  }
}

void SweepPanel::draw(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands) {
  if (!snapshot.sweep && !std::exchange(asked_, true)) commands.push_back(state::ShowSweep{});
  const kit::Panel panel(theme, "sweep panel", rect, {.plain = true});
  kit::panel_surface(theme, rect);
  state::Rect rest = rect.inset(theme.px(16), theme.px(8));
  if (!snapshot.sweep) return draw_empty(theme, rest, nullptr);
  draw_head(theme, rest.take_top(theme.px(kHead), theme.px(kGap)), *snapshot.sweep, commands);
  const auto& sweep = snapshot.sweep->shown;
  if (!sweep) return draw_empty(theme, rest, snapshot.sweep.get());
  prepare(sweep);
  draw_verdict(theme, rest, *sweep, has_dashes(), snapshot, commands);
  if (sweep->points.empty()) return;
  const float wanted =
      theme.px(kTableHead) + theme.px(kTableRow) * static_cast<float>(sweep->points.size());
  const bool has_pictures =
      prepared_.curve || prepared_.map || prepared_.ranking || prepared_.pareto;
  const float most = !has_pictures ? rest.h
                     : rest.h < theme.px(2 * kLeastPictures)
                         ? std::max(0.0f, rest.h - theme.px(kLeastPictures))
                         : rest.h * kMostTableShare;
  // Not a part of a table's head.
  const bool has_points = std::min(wanted, most) >= theme.px(kTableHead + kTableRow);
  state::Rect points;
  if (has_points) points = rest.take_bottom(std::min(wanted, most), theme.px(kGap));
  draw_pictures(theme, rest);
  if (has_points) draw_points(theme, points, snapshot.knobs.next, commands);
}

}  // namespace shardlens::ui::sweep
