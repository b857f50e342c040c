// The keyboard of ui/inspect/draw/timeline_mouse.h.
#include <algorithm>

#include "ui/inspect/draw/timeline_mouse.h"
#include "ui/kit/keys.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::Piece;
using Mode = TimelineState::Mode;

constexpr double kKeyPan = 0.15, kKeyZoom = 1.3;

// The event before or behind the picked one on its row and level; null: the picture does not show
// it as one event.
const Piece* neighbour_event(const TimelineScene& scene, const trace::timeline::EventPlace& from,
                             int direction) {
  const Piece* own = scene.pictures.find(from);
  const trace::timeline::RowPicture* picture = scene.pictures.find(from.row, from.start_ns);
  if (own == nullptr || picture == nullptr) return nullptr;
  auto at = own - picture->pieces.data();
  const auto is_there = [&] { return at >= 0 && at < std::ssize(picture->pieces); };
  // Parts of one collective are pieces of their own.
  while (is_there() && picture->pieces[static_cast<std::size_t>(at)].ref == own->ref) {
    at += direction;
  }
  if (!is_there()) return nullptr;
  const Piece& next = picture->pieces[static_cast<std::size_t>(at)];
  return next.level == own->level && next.ref.exists() ? &next : nullptr;
}

// The event of a row that is closest to a time, in the row's time.
const Piece* closest_event(const TimelineScene& scene, int row, std::int64_t time_ns) {
  const trace::timeline::RowPicture* picture = scene.pictures.find(row, time_ns);
  if (picture == nullptr) return nullptr;
  const Piece* best = nullptr;
  double least = 0;
  for (const Piece& piece : picture->pieces) {
    if (!piece.ref.exists()) continue;
    const double away =
        std::max({distance_ns(piece.start_ns, time_ns), distance_ns(time_ns, piece.end_ns), 0.0});
    if (best != nullptr && away >= least) continue;
    best = &piece;
    least = away;
  }
  return best;
}

void pick_piece(const TimelineScene& scene, int row, const Piece& piece, TimelineState& state,
                state::Commands& commands) {
  RowItem item;
  item.row = row;
  item.piece = piece;
  const auto& names = scene.pictures.names();
  if (piece.name < names.size()) item.name = names[piece.name];
  pick(item, state, commands);
}

void keep_in_sight(const TimelineScene& scene, TimeWindow& window, const Piece& piece, int row) {
  const RowPlace* place = scene.place_of(row, piece.start_ns);
  const std::int64_t shift = place == nullptr ? 0 : place->shift_ns;
  const double start = window.position(piece.start_ns - shift);
  const double end = window.position(piece.end_ns - shift);
  if (start < 0.02 || end > 0.98)
    window.center_on(piece.start_ns - shift + piece.duration_ns() / 2);
}

void move_by_step(const TimelineScene& scene, TimelineState& state, int direction) {
  if (state.mode == Mode::kSteps) return;
  const auto steps = scene.borders.of(scene.borders.reference_rank());
  if (steps.empty()) return;
  TimeWindow& window = state.window;
  const trace::timeline::StepBorder* now =
      scene.borders.nearest(scene.borders.reference_rank(), window.time_at(0.5));
  const auto index = (now - steps.data()) + direction;
  if (index < 0 || index >= static_cast<std::ptrdiff_t>(steps.size())) return;
  const trace::timeline::StepBorder& next = steps[static_cast<std::size_t>(index)];
  // What was in the middle of its step stays at the same place of the other one.
  window.pan(distance_ns(next.start_ns, now->start_ns) / window.span_ns());
}

void move_sideways(const TimelineScene& scene, TimelineState& state, int direction,
                   state::Commands& commands) {
  if (!state.picked) return move_by_step(scene, state, direction);
  const int row = state.picked->place.row;
  const Piece* next = neighbour_event(scene, state.picked->place, direction);
  if (next == nullptr) {
    commands.push_back(state::GoToNeighbour{state.picked->place.ref, direction});
    return;
  }
  const Piece copy = *next;
  pick_piece(scene, row, copy, state, commands);
  keep_in_sight(scene, state.shown_window(), copy, row);
}

void move_rows(const TimelineScene& scene, const RowLayout& layout, TimelineState& state,
               int direction, state::Commands& commands) {
  if (state.mode == Mode::kSteps) {
    state.step_scroll += static_cast<float>(direction) * scene.theme().px(60);
    return;
  }
  const auto& rows = layout.rows;
  const ShownRow* at = state.selected_row < 0 ? nullptr : layout.find(state.selected_row);
  std::ptrdiff_t index = at == nullptr ? (direction > 0 ? -1 : std::ssize(rows)) : at - rows.data();
  do {
    index += direction;
    if (index < 0 || index >= std::ssize(rows)) return;
  } while (rows[static_cast<std::size_t>(index)].row < 0);
  const ShownRow& shown = rows[static_cast<std::size_t>(index)];
  state.selected_row = shown.row;
  if (shown.y < state.scroll) state.scroll = shown.y;
  const float height = scene.plot().h;
  if (shown.y + shown.height > state.scroll + height) {
    state.scroll = shown.y + shown.height - height;
  }
  if (!state.picked) return;
  const auto shift_of = [&](int row) {
    const bool is_moved = state.aligned_by_step && row >= 0 && row < std::ssize(scene.rows.rows);
    const std::int64_t now = state.window.time_at(0.5);
    return is_moved ? step_shift(scene.borders, scene.row(row).rank, now) : 0;
  };
  const trace::timeline::EventPlace& from = state.picked->place;
  const std::int64_t middle =
      from.start_ns + (from.end_ns - from.start_ns) / 2 + shift_of(shown.row) - shift_of(from.row);
  if (const Piece* piece = closest_event(scene, shown.row, middle)) {
    pick_piece(scene, shown.row, *piece, state, commands);
  }
}

}  // namespace

void toggle_measure(TimelineState& state) {
  state.measuring = !state.measuring;
  state.measured.reset();
}

void clear_marks(TimelineState& state, state::Commands& commands) {
  // One thing at a time, what is on top first.
  if (state.measured || state.measuring) {
    state.measured.reset();
    state.measuring = false;
  } else if (state.pinned) {
    state.pinned.reset();
  } else if (state.picked) {
    state.picked.reset();
    commands.push_back(state::DropEvent{});
  } else if (state.selection) {
    state.selection.reset();
  }
}

void use_window_keys(const TimelineScene& scene, TimelineState& state, state::Commands& commands) {
  TimeWindow& window = state.shown_window();
  const RowCanvas& c = scene.canvas;
  const bool over = c.mouse_inside && c.plot.contains(c.mouse_x, c.mouse_y);
  const double at =
      over ? static_cast<double>(c.mouse_x - c.plot.x) / static_cast<double>(c.plot.w) : 0.5;
  if (kit::key_pressed(kit::Key::kW)) window.zoom(at, kKeyZoom);
  if (kit::key_pressed(kit::Key::kS)) window.zoom(at, 1 / kKeyZoom);
  if (kit::key_pressed(kit::Key::kA)) window.pan(-kKeyPan);
  if (kit::key_pressed(kit::Key::kD)) window.pan(kKeyPan);
  if (kit::key_pressed(kit::Key::kF, false)) window.fit();
  if (kit::key_pressed(kit::Key::kM, false)) toggle_measure(state);
  if (kit::key_pressed(kit::Key::kEscape, false)) clear_marks(state, commands);
}

void use_timeline_keys(const TimelineScene& scene, const RowLayout& layout, TimelineState& state,
                       state::Commands& commands) {
  use_window_keys(scene, state, commands);
  if (kit::key_pressed(kit::Key::kLeft)) move_sideways(scene, state, -1, commands);
  if (kit::key_pressed(kit::Key::kRight)) move_sideways(scene, state, 1, commands);
  if (kit::key_pressed(kit::Key::kUp)) move_rows(scene, layout, state, -1, commands);
  if (kit::key_pressed(kit::Key::kDown)) move_rows(scene, layout, state, 1, commands);
}

}  // namespace shardlens::ui::inspect
