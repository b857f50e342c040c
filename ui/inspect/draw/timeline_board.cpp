#include "ui/inspect/draw/timeline_board.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "trace/timeline/values/straggler_figures.h"
#include "ui/inspect/draw/timeline_mouse.h"
#include "ui/inspect/draw/timeline_parts.h"
#include "ui/kit/keys.h"
#include "ui/kit/widgets.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

using Mode = TimelineState::Mode;

constexpr float kLabelColumn = 208, kLabelColumnOfStep = 152, kStepHeads = 20, kAxisRow = 20;
constexpr float kSearchDim = 0.28f, kPickDim = 0.5f;

trace::base::Interval times_of(const RowItem& item) {
  if (item.piece) return {item.piece->start_ns, item.piece->end_ns};
  const std::int64_t at = item.ready ? item.ready->time_ns : 0;
  return {at, at};
}

bool is_same(const RowItem& a, const RowItem& b) {
  return a.row == b.row && a.ready.has_value() == b.ready.has_value() && times_of(a) == times_of(b);
}

// One for all ranks, so that their rows can be compared.
SizeForm size_form(const TimelineScene& scene) {
  SizeRoom room;
  for (const RowPlace& place : scene.places) {
    if (place.kind != trace::timeline::RowKind::kReady) continue;
    const auto* picture = scene.pictures.find(place.row, place.start_ns, place.end_ns);
    if (picture != nullptr) room.add(scene.canvas, place, *picture);
  }
  return room.form();
}

bool shows_whole_run(const trace::timeline::TimelinePicture& picture,
                     const trace::timeline::TimelineRows& rows) {
  // All rows of it show the same stretch, but for what ranks did not record.
  return std::ranges::any_of(picture.rows, [&](const trace::timeline::RowPicture& row) {
    return row.window.start_ns <= rows.start_ns && row.window.end_ns >= rows.end_ns;
  });
}

// What is pinned of a step stays while more of the same step comes in.
bool is_same_row(const trace::timeline::TimelineRows& before,
                 const trace::timeline::TimelineRows& now, int row) {
  const trace::timeline::TimelineRow *a = before.row_of(row), *b = now.row_of(row);
  if (before.steps.empty() || now.steps.empty() || a == nullptr || b == nullptr) return false;
  return before.steps.front().step == now.steps.front().step && a->rank == b->rank &&
         a->kind == b->kind && a->lane == b->lane;
}

}  // namespace

float TimelineBoard::label_width(const kit::Theme& theme, float width) const {
  const float wanted = run_.rows->is_one_step ? kLabelColumnOfStep : kLabelColumn;
  return std::min(theme.px(wanted), std::round(width * 0.26f));
}

TimelineScene TimelineBoard::make_scene(const kit::Theme& theme, const state::Rect& body) {
  state::Rect rest = body;
  const float labels_width = label_width(theme, body.w);
  const bool steps = state_.mode == Mode::kTime && run_.steps.reference_rank() >= 0;
  state::Rect heads =
      steps ? rest.take_top(theme.px(kStepHeads)) : state::Rect{rest.x, rest.y, rest.w, 0};
  state::Rect axis = rest.take_top(theme.px(kAxisRow), theme.px(4));
  state::Rect labels = rest.take_left(labels_width);
  heads.take_left(labels_width);
  axis.take_left(labels_width);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool inside = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  RowCanvas canvas{theme, state_.shown_window(), rest, mouse.x, mouse.y, inside};
  canvas.means = &run_.means;
  canvas.is_fine = run_.rows->is_one_step;
  canvas.lit = run_.lit.lit();
  if (canvas.lit != nullptr) {
    canvas.dim = run_.lit.are_searched() ? kSearchDim : kPickDim;
    const trace::timeline::TimelineRow* row =
        state_.picked ? run_.rows->row_of(state_.picked->place.row) : nullptr;
    if (row != nullptr && !run_.lit.are_searched()) canvas.lit_kind = row->kind;
  }
  return {canvas,     labels,        heads,          axis,  *run_.rows,
          run_.steps, run_.pictures, run_.backdrops, name_, state_.known_until_ns};
}

std::int64_t TimelineBoard::end_of_row(trace::timeline::RowKind kind, int place) const {
  // An area's last value holds until then; events end by themselves.
  const bool is_area = kind == trace::timeline::RowKind::kMemory ||
                       kind == trace::timeline::RowKind::kCounter ||
                       kind == trace::timeline::RowKind::kGpu;
  if (!is_area || place < 0) return run_.rows->end_ns;
  return std::min(run_.rows->end_ns, run_.rows->ranks[static_cast<std::size_t>(place)].end_ns);
}

void TimelineBoard::place_time_rows(TimelineScene& scene) {
  const state::Rect& plot = scene.plot();
  run_.layout = layout_rows(*run_.rows, state_.folds, state_.filter, plot.h, scene.theme().scale);
  const bool one_step = run_.rows->is_one_step;
  const TimeWindow& window = state_.shown_window();
  std::vector<std::int64_t> shifts(run_.rows->ranks.size(), one_step ? run_.rows->start_ns : 0);
  if (!one_step && state_.aligned_by_step) {
    shifts = step_shifts(*run_.rows, run_.steps, state_.window.time_at(0.5));
  }
  const std::int64_t smooth =
      one_step ? 0 : ribbon_smoothing(window, plot.w, run_.steps.lengths().mean_ns);
  for (const ShownRow& shown : run_.layout.rows) {
    const float y = plot.y + shown.y - state_.shown_scroll();
    if (shown.row < 0 || y + shown.height <= plot.y || y >= plot.bottom()) continue;
    RowPlace place;
    place.area = {plot.x, y, plot.w, shown.height};
    place.row = shown.row;
    place.kind = scene.row(shown.row).kind;
    place.unit = scene.row(shown.row).unit;
    place.shift_ns = shown.place < 0 ? 0 : shifts[static_cast<std::size_t>(shown.place)];
    place.levels = shown.levels;
    place.level_height = shown.level_height;
    place.start_ns = window.start_ns() + place.shift_ns;
    place.end_ns = window.end_ns() + place.shift_ns;
    place.least_ns = run_.rows->start_ns;
    place.most_ns = end_of_row(place.kind, shown.place);
    place.smooth_ns = smooth;
    scene.places.push_back(place);
  }
}

float TimelineBoard::place_rows(TimelineScene& scene) {
  scene.places.clear();
  if (state_.mode == Mode::kSteps) {
    return place_step_rows(scene, step_rank(), state_.filter, state_.step_scroll);
  }
  place_time_rows(scene);
  return run_.layout.height;
}

void TimelineBoard::scroll_to_revealed(const TimelineScene& scene) {
  if (run_.scroll_to < 0) return;
  const ShownRow* shown = run_.layout.find(run_.scroll_to);
  if (shown != nullptr && shown->offers_levels && !shown->shows_all_levels) {
    // It may be nested deeper than what is shown.
    auto& levels = state_.folds.levels;
    if (levels.erase(run_.scroll_to) == 0) levels.insert(run_.scroll_to);
  }
  run_.scroll_to = -1;
  if (shown == nullptr || state_.mode != Mode::kTime) return;
  const float height = scene.plot().h;
  const bool above = shown->y < state_.scroll;
  const bool below = shown->y + shown->height > state_.scroll + height;
  if (above || below) state_.scroll = shown->y + shown->height / 2 - height / 2;
  const float lowest = std::max(0.0f, run_.layout.height - height);
  state_.scroll = std::clamp(state_.scroll, 0.0f, lowest);
}

void TimelineBoard::scroll_to_step(float height) {
  const auto steps = begun_before(run_.steps.of(step_rank()), state_.known_until_ns);
  if (steps.empty()) return;
  run_.step_height = height / static_cast<float>(steps.size());
  const std::int64_t wanted = std::exchange(run_.first_step, -1);
  const auto found = std::ranges::find(steps, wanted, &trace::timeline::StepBorder::step);
  if (found == steps.end()) return;
  state_.step_scroll = run_.step_height * static_cast<float>(found - steps.begin());
}

void TimelineBoard::ask(const TimelineScene& scene, state::Commands& commands) {
  if (run_.rows->is_one_step) return;
  trace::timeline::PictureRequest request = request_of(scene);
  if (request == run_.asked || request.windows.empty()) return;
  run_.asked = request;
  commands.push_back(state::ShowTimeline{std::move(request)});
}

void TimelineBoard::choose_origin(const TimelineScene& scene) {
  const state::Rect box{scene.labels.x, scene.axis.y, scene.labels.w, scene.axis.h};
  const kit::Hit hit = kit::hit_area(scene.theme(), scene.name + "/origin", box);
  if (hit.clicked) state_.axis_from_run = !state_.axis_from_run;
  if (!hit.hovered) return;
  kit::tooltip(scene.theme(), "What times count from",
               state_.axis_from_run
                   ? "The start of the run"
                   : "The first step in sight; the start of the run where many are",
               "Click changes it");
}

void TimelineBoard::draw_above_rows(const TimelineScene& scene,
                                    const trace::model::Bookmarks& bookmarks,
                                    std::int64_t origin_ns) {
  draw_cursor(scene, origin_ns);
  if (state_.mode == Mode::kTime) draw_bookmarks(scene, bookmarks, origin_ns);
  if (state_.picked) {
    const bool has_details = run_.details && run_.details->place.ref == state_.picked->place.ref;
    if (has_details) draw_connections(scene, *run_.details);
    draw_picked(scene, state_.picked->place);
  }
  if (state_.selection) draw_interval(scene, *state_.selection, false, state_.mode);
  if (state_.measured) draw_interval(scene, *state_.measured, true, state_.mode);
}

bool TimelineBoard::cover_future(const TimelineScene& scene) const {
  if (state_.mode != Mode::kTime || state_.known_until_ns >= state_.window.end_ns()) return true;
  const state::Palette& p = scene.theme().colors();
  const state::Rect& plot = scene.plot();
  const float now = std::clamp(scene.canvas.x(state_.known_until_ns), plot.x, plot.right());
  kit::fill({now, plot.y, plot.right() - now, plot.h}, kit::color(p.panel), 0);
  kit::line(now, plot.y, now, plot.bottom(), kit::color(p.text));
  if (state_.known_until_ns <= state_.window.start_ns()) {
    kit::empty_note(scene.theme(), plot, "The replay has not come so far. F shows the whole run");
  }
  return !scene.canvas.mouse_inside || scene.canvas.mouse_x < now;
}

void TimelineBoard::draw_rows_and_marks(TimelineScene& scene,
                                        const trace::model::Bookmarks& bookmarks,
                                        state::Commands& commands) {
  const bool time = state_.mode == Mode::kTime;
  const trace::timeline::StepBorder* step = nullptr;
  AxisOrigin origin{0, "from the step's start"};
  if (state_.selected_row >= 0) draw_selected_row(scene, state_.selected_row);
  scene.canvas.sizes = size_form(scene);
  if (time) {
    origin = axis_origin(scene, state_.axis_from_run);
    step = draw_step_heads(scene);
  }
  draw_axis(scene, origin);
  if (time) {
    choose_origin(scene);
    draw_step_borders(scene);
  }
  if (state_.mode == Mode::kSteps) {
    draw_step_labels(scene);
  } else {
    draw_labels(scene, run_.layout, state_);
  }
  auto hovered = draw_rows(scene);
  if (!cover_future(scene)) hovered.reset();
  draw_above_rows(scene, bookmarks, origin.time_ns);
  run_.mouse.act(scene, hovered, step, state_, commands);
  draw_pinned(scene);
  if (hovered && run_.mouse.is_idle() && !ImGui::IsAnyItemActive() &&
      !(state_.pinned && is_same(*hovered, *state_.pinned))) {
    draw_timeline_tooltip(scene, *hovered);
  }
}

void TimelineBoard::draw_pinned(const TimelineScene& scene) {
  if (!state_.pinned) return;
  const auto [start_ns, end_ns] = times_of(*state_.pinned);
  const trace::timeline::EventRef ref =
      state_.pinned->piece ? state_.pinned->piece->ref : trace::timeline::EventRef{};
  draw_picked(scene, {ref, start_ns, end_ns, state_.pinned->row});
  if (draw_timeline_card(scene, *state_.pinned)) state_.pinned.reset();
}

void TimelineBoard::draw(const kit::Theme& theme, const state::Rect& body,
                         const trace::model::Bookmarks& bookmarks, bool keys,
                         state::Commands& commands) {
  if (!run_.rows) return;
  TimelineScene scene = make_scene(theme, body);
  if (scene.plot().empty()) return;
  const float content = place_rows(scene);
  if (state_.mode == Mode::kSteps) scroll_to_step(content);
  run_.mouse.move(scene, content, state_);
  if (keys && run_.rows->is_one_step) use_window_keys(scene, state_, commands);
  if (keys && !run_.rows->is_one_step) {
    use_timeline_keys(scene, run_.layout, state_, commands);
    if (kit::enter_pressed()) zoom_to_selection();
  }
  scroll_to_revealed(scene);
  place_rows(scene);
  const bool over = scene.canvas.mouse_inside &&
                    scene.plot().contains(scene.canvas.mouse_x, scene.canvas.mouse_y);
  run_.cursor_ns = over ? scene.view_time_at(scene.canvas.mouse_x) : state_.window.time_at(0.5);
  draw_rows_and_marks(scene, bookmarks, commands);
  draw_scroll(scene, content, state_.shown_scroll());
  ask(scene, commands);
}

void TimelineBoard::follow_run(const std::string& folder) {
  if (folder == run_.folder) return;
  run_ = {};
  run_.folder = folder;
  const TimelineChoices kept = state_;
  state_ = {};
  static_cast<TimelineChoices&>(state_) = kept;
}

void TimelineBoard::follow_rows(const std::shared_ptr<const trace::timeline::TimelineRows>& rows) {
  if (rows == run_.rows || !rows) return;
  run_.rows = rows;
  run_.steps = StepIndex(*rows);
  if (state_.mode == Mode::kSteps && run_.steps.reference_rank() < 0) state_.mode = Mode::kTime;
  state_.window.set_extent(rows->start_ns, rows->end_ns);
  if (!rows->is_one_step) {
    const StepIndex::Lengths lengths = run_.steps.lengths();
    state_.step_window.set_extent(0, lengths.longest_ns, 0, lengths.typical_ns);
  }
  if (rows->row_of(state_.selected_row) == nullptr) state_.selected_row = -1;
}

void TimelineBoard::follow_picture(
    const std::shared_ptr<const trace::timeline::TimelinePicture>& picture) {
  if (picture == run_.pictures.picture()) return;
  run_.pictures = PictureIndex(picture);
  run_.means = {};
  if (picture && run_.rows && shows_whole_run(*picture, *run_.rows)) {
    run_.backdrops = run_.pictures;
  }
  run_.lit.forget_names();
}

// Of many ranks those come first that kept the others waiting longest in the whole run.
void TimelineBoard::follow_extremes(const state::InspectView& view) {
  const bool counted = view.range && view.range->is_whole_run && view.range->stragglers;
  if (!run_.rows || run_.rows->ranks.size() <= kMostRanksShown || !counted) return;
  if (!state_.folds.extremes.empty()) return;  // rows do not jump about
  std::vector<trace::timeline::StragglerRank> ranks = view.range->stragglers->ranks;
  std::ranges::stable_sort(ranks, std::greater<>(), &trace::timeline::StragglerRank::caused_ns);
  ranks.resize(std::min(ranks.size(), kRanksOfMany));
  for (const trace::timeline::StragglerRank& rank : ranks)
    state_.folds.extremes.push_back(rank.rank);
}

// An event that a table or a link asked for is picked as if it had been clicked.
void TimelineBoard::follow_picked(const state::InspectView& view) {
  if (view.details == run_.details) return;
  const bool was_shown =
      run_.details && state_.picked && run_.details->place.ref == state_.picked->place.ref;
  run_.details = view.details;
  if (!run_.details) {
    if (was_shown) state_.picked.reset();
    return;
  }
  if (state_.picked && state_.picked->place.ref == run_.details->place.ref) return;
  state_.picked = PickedEvent{run_.details->place, ""};
  state_.selected_row = run_.details->place.row;
}

void TimelineBoard::unfold(const trace::timeline::TimelineRow& row) {
  state_.folds.run = false;
  state_.filter.set(row.kind, true);
  if (row.rank >= 0 && row.kind != trace::timeline::RowKind::kRibbon)
    state_.folds.ranks[row.rank] = true;
  // Its kind may have more lanes than are unfolded by themselves.
  const auto hides = [&](const ShownRow& other) {
    const trace::timeline::TimelineRow* first = run_.rows->row_of(other.row);
    if (other.lanes <= 1 || other.shows_lanes || first == nullptr) return false;
    return first->kind == row.kind && first->rank == row.rank && first->id != row.id;
  };
  const RowLayout unfolded = layout_rows(*run_.rows, state_.folds, state_.filter, 0, 1);
  if (!std::ranges::any_of(unfolded.rows, hides)) return;
  const std::pair<int, trace::timeline::RowKind> key{row.rank, row.kind};
  if (state_.folds.lanes.erase(key) == 0) state_.folds.lanes.insert(key);
}

std::optional<trace::base::Interval> TimelineBoard::shown_picked() const {
  if (!state_.picked || !run_.rows) return std::nullopt;
  return shown_event(state_, *run_.rows, run_.steps, state_.picked->place);
}

void TimelineBoard::show(const trace::base::Interval& wanted) {
  state_.mode = Mode::kTime;
  state_.window.show(wanted.start_ns, wanted.end_ns, 0.05);
}

void TimelineBoard::show(std::span<const trace::timeline::TimeRange> wanted) {
  const auto shown = shown_ranges(state_, run_.steps, wanted);
  if (shown && shown->end_ns > shown->start_ns) show(*shown);
}

void TimelineBoard::select_step(std::int64_t step) {
  if (!run_.rows) return;
  const auto shown = shown_step(state_, *run_.rows, run_.steps, step);
  if (!shown) return;
  state_.selection = shown;
  show(*shown);
}

void TimelineBoard::show_steps_of(int rank, std::int64_t first_step) {
  if (run_.steps.of(rank).empty()) return;
  state_.mode = Mode::kSteps;
  state_.step_rank = rank;
  run_.first_step = first_step;
}

std::int64_t TimelineBoard::first_step_in_sight() const {
  const auto steps = run_.steps.of(step_rank());
  if (steps.empty() || run_.step_height <= 0) return -1;
  const auto first =
      static_cast<std::size_t>(std::max(0l, std::lround(state_.step_scroll / run_.step_height)));
  return steps[std::min(first, steps.size() - 1)].step;
}

void TimelineBoard::ask_selected(state::Commands& commands) {
  if (!run_.rows || !run_.mouse.is_idle()) return;
  trace::timeline::TimeRange range = selected_range(state_, *run_.rows, run_.steps);
  if (range == run_.counted) return;
  run_.counted = range;
  commands.push_back(state::SelectRange{std::move(range)});
}

void TimelineBoard::zoom_to_selection() {
  if (state_.mode != Mode::kTime) return;
  const auto wanted = state_.picked ? shown_picked() : state_.selection;
  if (wanted) state_.window.show(wanted->start_ns, wanted->end_ns, kAround);
}

void TimelineBoard::reveal(const state::InspectView& view) {
  if (view.reveal_number == run_.revealed || !run_.rows) return;
  run_.revealed = view.reveal_number;
  const trace::timeline::TimelineRow* row = run_.rows->row_of(view.reveal.row);
  if (row == nullptr) return;
  state_.mode = Mode::kTime;
  unfold(*row);
  const trace::base::Interval shown = shown_event(state_, *run_.rows, run_.steps, view.reveal);
  state_.window.reveal(shown.start_ns, shown.end_ns);
  run_.scroll_to = row->id;
}

void TimelineBoard::name_picked() {
  if (!state_.picked || !state_.picked->name.empty()) return;
  const trace::timeline::Piece* piece = run_.pictures.find(state_.picked->place);
  if (piece != nullptr) state_.picked->name = run_.pictures.names()[piece->name];
}

void TimelineBoard::light_names(const state::InspectView& view) {
  const auto hits = view.hits && view.hits->problem.empty() ? view.hits : nullptr;
  if (!hits) name_picked();
  run_.lit.follow(run_.pictures.names(), hits,
                  !hits && state_.picked ? state_.picked->name : std::string());
}

// Of many ranks those come first that compute longest.
void TimelineBoard::order_by_compute(const trace::timeline::StepPicture& step) {
  RowFolds& folds = state_.folds;
  folds.extremes.clear();
  folds.rest.clear();
  if (step.by_compute.size() <= kMostRanksShown) return;
  for (const auto& each : step.by_compute) folds.extremes.push_back(each.rank);
  folds.rest = ", which compute for " + present::length_text(step.by_compute.back().compute_ns) +
               " to " + present::length_text(step.by_compute[kRanksOfMany].compute_ns);
}

void TimelineBoard::follow(const std::string& run_folder, const trace::timeline::StepPicture& step,
                           std::int64_t until_ns) {
  follow_run(run_folder);
  state_.mode = TimelineState::Mode::kOneStep;
  const std::int64_t end_ns = std::max(step.rows->end_ns, until_ns);
  if (step.rows != run_.rows || end_ns != run_.until_ns) {
    state_.step_window.set_extent(0, end_ns - step.rows->start_ns);
    run_.until_ns = end_ns;
  }
  if (step.rows == run_.rows) return;
  if (state_.pinned && !is_same_row(*run_.rows, *step.rows, state_.pinned->row)) {
    state_.pinned.reset();
  }
  follow_rows(step.rows);
  follow_picture(step.picture);
  order_by_compute(step);
}

void TimelineBoard::follow(const state::InspectView& view) {
  follow_run(view.run_folder);
  follow_rows(view.rows);
  follow_picture(view.picture);
  follow_extremes(view);
  follow_picked(view);
  reveal(view);
  light_names(view);
}

}  // namespace shardlens::ui::inspect
