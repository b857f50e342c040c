#include "ui/inspect/timeline_board.h"

#include <algorithm>
#include <cmath>

#include "ui/inspect/timeline_axis_draw.h"
#include "ui/inspect/timeline_keys.h"
#include "ui/inspect/timeline_labels_draw.h"
#include "ui/inspect/timeline_marks_draw.h"
#include "ui/inspect/timeline_step_rows.h"
#include "ui/inspect/timeline_tooltip.h"
#include "ui/widgets.h"

namespace shardlens::ui {

namespace {

using Mode = TimelineState::Mode;

constexpr float kLabelColumn = 208, kStepHeads = 20, kAxisRow = 20, kBoardPadding = 8;
constexpr float kSearchDim = 0.28f, kPickDim = 0.5f;

}  // namespace

TimelineScene TimelineBoard::make_scene(const Look& look, const Rect& body) {
  Rect rest = body;
  const float labels_width = std::min(look.px(kLabelColumn), std::round(body.w * 0.26f));
  const bool steps = state_.mode == Mode::kTime && steps_.reference_rank() >= 0;
  Rect heads = steps ? rest.take_top(look.px(kStepHeads)) : Rect{rest.x, rest.y, rest.w, 0};
  Rect axis = rest.take_top(look.px(kAxisRow), look.px(4));
  Rect labels = rest.take_left(labels_width);
  heads.take_left(labels_width);
  axis.take_left(labels_width);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool inside = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  RowCanvas canvas{look, state_.shown_window(), rest, mouse.x, mouse.y, inside};
  canvas.means = &means_;
  if (has_lit_) {
    canvas.lit = &lit_;
    canvas.dim = hits_ ? kSearchDim : kPickDim;
    const int row = state_.picked ? state_.picked->place.row : -1;
    canvas.lights_kind = !hits_;
    if (row >= 0 && static_cast<std::size_t>(row) < rows_->rows.size()) {
      canvas.lit_kind = rows_->rows[static_cast<std::size_t>(row)].kind;
    }
  }
  return {canvas,
          labels,
          heads,
          axis,
          *rows_,
          steps_,
          pictures_,
          picture_ ? picture_->names : no_names_,
          backdrops_,
          backdrop_ ? backdrop_->names : no_names_,
          state_.known_until_ns};
}

std::int64_t TimelineBoard::end_of_row(trace::RowKind kind, int place) const {
  // An area's last value holds until then; events end by themselves.
  const bool is_area = kind == trace::RowKind::kMemory || kind == trace::RowKind::kCounter ||
                       kind == trace::RowKind::kGpu;
  if (!is_area || place < 0) return rows_->end_ns;
  return std::min(rows_->end_ns, rows_->ranks[static_cast<std::size_t>(place)].end_ns);
}

void TimelineBoard::place_time_rows(TimelineScene& scene) {
  const Rect& plot = scene.plot();
  layout_ = layout_rows(*rows_, state_.folds, state_.filter, plot.h, scene.look().scale);
  std::vector<std::int64_t> shifts(rows_->ranks.size(), 0);
  if (state_.aligned_by_step) {
    shifts = step_shifts(*rows_, steps_, state_.window.time_at(0.5));
  }
  const std::int64_t smooth = ribbon_smoothing(state_.window, plot.w, steps_.lengths().mean_ns);
  for (const ShownRow& shown : layout_.rows) {
    const float y = plot.y + shown.y - state_.scroll;
    if (shown.row < 0 || y + shown.height <= plot.y || y >= plot.bottom()) continue;
    RowPlace place;
    place.area = {plot.x, y, plot.w, shown.height};
    place.row = shown.row;
    place.kind = scene.row(shown.row).kind;
    place.unit = scene.row(shown.row).unit;
    place.shift_ns = shown.place < 0 ? 0 : shifts[static_cast<std::size_t>(shown.place)];
    place.levels = shown.levels;
    place.level_height = shown.level_height;
    place.start_ns = state_.window.start_ns() + place.shift_ns;
    place.end_ns = state_.window.end_ns() + place.shift_ns;
    place.least_ns = rows_->start_ns;
    place.most_ns = end_of_row(place.kind, shown.place);
    place.smooth_ns = smooth;
    scene.places.push_back(place);
  }
}

float TimelineBoard::place_rows(TimelineScene& scene) {
  scene.places.clear();
  if (state_.mode == Mode::kSteps) {
    const int rank = state_.step_rank < 0 ? steps_.reference_rank() : state_.step_rank;
    return place_step_rows(scene, rank, state_.filter, state_.step_scroll);
  }
  place_time_rows(scene);
  return layout_.height;
}

void TimelineBoard::scroll_to_revealed(const TimelineScene& scene) {
  if (scroll_to_ < 0) return;
  const ShownRow* shown = layout_.find(scroll_to_);
  if (shown != nullptr && shown->offers_levels && !shown->shows_all_levels) {
    // It may be nested deeper than what is shown.
    auto& levels = state_.folds.levels;
    if (levels.erase(scroll_to_) == 0) levels.insert(scroll_to_);
  }
  scroll_to_ = -1;
  if (shown == nullptr || state_.mode != Mode::kTime) return;
  const float height = scene.plot().h;
  const bool above = shown->y < state_.scroll;
  const bool below = shown->y + shown->height > state_.scroll + height;
  if (above || below) state_.scroll = shown->y + shown->height / 2 - height / 2;
  const float lowest = std::max(0.0f, layout_.height - height);
  state_.scroll = std::clamp(state_.scroll, 0.0f, lowest);
}

void TimelineBoard::ask(const TimelineScene& scene, Commands& commands) {
  trace::PictureRequest request = request_of(scene);
  if (request == asked_ || request.windows.empty()) return;
  asked_ = request;
  commands.push_back(ShowTimeline{std::move(request)});
}

void TimelineBoard::choose_origin(const TimelineScene& scene) {
  const Rect box{scene.labels.x, scene.axis.y, scene.labels.w, scene.axis.h};
  const Hit hit = hit_area(scene.look(), "inspect/origin", box);
  if (hit.clicked) state_.axis_from_run = !state_.axis_from_run;
  if (!hit.hovered) return;
  tooltip(scene.look(), "What times count from",
          state_.axis_from_run ? "The start of the run"
                               : "The first step in sight; the start of the run where many are",
          "Click changes it");
}

void TimelineBoard::draw_above_rows(const TimelineScene& scene, const BookmarkList& bookmarks,
                                    std::int64_t origin_ns) {
  draw_cursor(scene, origin_ns);
  if (state_.mode == Mode::kTime) draw_bookmarks(scene, bookmarks);
  if (state_.picked) {
    const bool has_details = details_ && details_->place.ref == state_.picked->place.ref;
    if (has_details) draw_connections(scene, *details_);
    draw_picked(scene, *state_.picked);
  }
  if (state_.selection) draw_interval(scene, *state_.selection, false, state_.mode);
  if (state_.measured) draw_interval(scene, *state_.measured, true, state_.mode);
}

bool TimelineBoard::cover_future(const TimelineScene& scene) const {
  if (state_.mode != Mode::kTime || state_.known_until_ns >= state_.window.end_ns()) return true;
  const Palette& p = scene.look().colors();
  const Rect& plot = scene.plot();
  const float now = std::clamp(scene.canvas.x(state_.known_until_ns), plot.x, plot.right());
  fill({now, plot.y, plot.right() - now, plot.h}, color(p.panel), 0);
  line(now, plot.y, now, plot.bottom(), color(p.text));
  return !scene.canvas.mouse_inside || scene.canvas.mouse_x < now;
}

void TimelineBoard::draw_rows_and_marks(TimelineScene& scene, const BookmarkList& bookmarks,
                                        Commands& commands) {
  const bool time = state_.mode == Mode::kTime;
  const trace::StepBorder* step = nullptr;
  AxisOrigin origin{0, "from the step's start"};
  if (state_.selected_row >= 0) draw_selected_row(scene, state_.selected_row);
  if (time) {
    origin = axis_origin(scene, state_.axis_from_run);
    step = draw_step_heads(scene);
    draw_axis(scene, origin.time_ns, origin.name);
    choose_origin(scene);
    draw_step_borders(scene);
    draw_labels(scene, layout_, state_.scroll, state_);
  } else {
    draw_axis(scene, origin.time_ns, origin.name);
    draw_step_labels(scene);
  }
  auto hovered = draw_rows(scene);
  if (!cover_future(scene)) hovered.reset();
  draw_above_rows(scene, bookmarks, origin.time_ns);
  mouse_.act(scene, hovered, step, state_, commands);
  if (hovered && mouse_.is_idle() && !ImGui::IsAnyItemActive()) {
    draw_timeline_tooltip(scene, *hovered);
  }
}

void TimelineBoard::draw(const Look& look, const Rect& rect, const BookmarkList& bookmarks,
                         bool keys, Commands& commands) {
  const Palette& p = look.colors();
  fill(rect, color(p.panel), look.px(6));
  outline(rect, color(p.panel_edge), look.px(6));
  if (!rows_) return;
  TimelineScene scene = make_scene(look, rect.inset(look.px(kBoardPadding), look.px(4)));
  if (scene.plot().empty()) return;
  const float content = place_rows(scene);
  mouse_.move(scene, content, state_);
  if (keys) use_timeline_keys(scene, layout_, state_, commands);
  scroll_to_revealed(scene);
  place_rows(scene);
  const bool over = scene.canvas.mouse_inside &&
                    scene.plot().contains(scene.canvas.mouse_x, scene.canvas.mouse_y);
  cursor_ns_ = over ? scene.view_time_at(scene.canvas.mouse_x) : state_.window.time_at(0.5);
  draw_rows_and_marks(scene, bookmarks, commands);
  ask(scene, commands);
}

}  // namespace shardlens::ui
