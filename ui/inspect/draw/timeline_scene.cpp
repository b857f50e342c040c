#include "ui/inspect/draw/timeline_scene.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/paint.h"

namespace shardlens::ui::inspect {

std::int64_t TimelineScene::view_time_at(float x) const {
  const double width = std::max(1.0, static_cast<double>(plot().w));
  return canvas.window.time_at(static_cast<double>(x - plot().x) / width);
}

const RowPlace* TimelineScene::place_of(int row, std::int64_t time_ns) const {
  const RowPlace* any = nullptr;
  for (const RowPlace& place : places) {
    if (place.row != row) continue;
    if (place.start_ns <= time_ns && time_ns < place.end_ns) return &place;
    any = &place;
  }
  return any;
}

const RowPlace* TimelineScene::place_at(float y) const {
  for (const RowPlace& place : places) {
    if (y >= place.area.y && y < place.area.bottom()) return &place;
  }
  return nullptr;
}

state::Rect TimelineScene::rect_of(const RowPlace& place, std::int64_t start_ns,
                                   std::int64_t end_ns, int level) const {
  const float x0 = std::floor(canvas.x(start_ns - place.shift_ns));
  const float x1 = std::max(std::floor(canvas.x(end_ns - place.shift_ns)), x0 + 1);
  state::Rect rect{x0, place.area.y, x1 - x0, place.area.h};
  if (level >= 0 && place.levels > 1) {
    const int shown = std::min(level, place.levels - 1);
    rect.y += place.level_height * static_cast<float>(shown);
    rect.h = place.level_height;
  }
  return rect;
}

namespace {

// Dimmed, from `start_ns` to `end_ns` of the row: better than nothing until a picture comes.
void draw_backdrop(const TimelineScene& scene, const RowPlace& place, std::int64_t start_ns,
                   std::int64_t end_ns) {
  const float left = std::max(place.area.x, std::floor(scene.canvas.x(start_ns - place.shift_ns)));
  const float right =
      std::min(place.area.right(), std::floor(scene.canvas.x(end_ns - place.shift_ns)));
  const trace::timeline::RowPicture* picture = scene.backdrop.find(place.row, start_ns, end_ns);
  if (picture == nullptr || right - left < 1) return;
  RowCanvas canvas = scene.canvas;
  canvas.mouse_inside = false;  // it is too coarse to be asked
  canvas.lit = nullptr;
  canvas.means = nullptr;
  RowPlace part = place;
  part.area.x = left;
  part.area.w = right - left;
  const kit::Clip clip(part.area);
  draw_row(canvas, part, *picture, scene.backdrop.names());
  kit::fill(part.area, kit::color(scene.theme().colors().panel, 0.6f), 0);
}

// What the picture does not reach; all of the row where there is none.
void draw_backdrops(const TimelineScene& scene, const RowPlace& place,
                    const trace::timeline::RowPicture* picture) {
  const std::int64_t start = std::max(place.start_ns, place.least_ns);
  const std::int64_t end = std::min(place.end_ns, place.most_ns);
  if (picture == nullptr) return draw_backdrop(scene, place, start, end);
  const trace::timeline::RowWindow& reached = picture->window;
  if (start < reached.start_ns) draw_backdrop(scene, place, start, std::min(reached.start_ns, end));
  if (reached.end_ns < end) draw_backdrop(scene, place, std::max(reached.end_ns, start), end);
}

}  // namespace

std::optional<RowItem> draw_rows(const TimelineScene& scene) {
  std::optional<RowItem> hovered;
  RowCanvas unlit = scene.canvas;
  unlit.lit = nullptr;
  unlit.dim = 1;
  const kit::Clip clip(scene.plot());
  for (const RowPlace& place : scene.places) {
    const trace::timeline::RowPicture* picture =
        scene.pictures.find(place.row, place.start_ns, place.end_ns);
    draw_backdrops(scene, place, picture);
    if (picture == nullptr) continue;
    const bool lit = place.kind == scene.canvas.lit_kind.value_or(place.kind);
    if (!picture->is_complete && picture->pieces.empty() && picture->columns.empty() &&
        picture->area.empty()) {
      kit::label_in(scene.theme(), place.area, kit::Face::kSmall, scene.theme().colors().text_muted,
                    "reading…", kit::Align::kCenter);
    }
    auto item = draw_row(lit ? scene.canvas : unlit, place, *picture, scene.pictures.names());
    if (item) hovered = std::move(item);
  }
  return hovered;
}

trace::timeline::PictureRequest request_of(const TimelineScene& scene) {
  std::vector<SeenPart> parts;
  parts.reserve(scene.places.size());
  for (const RowPlace& place : scene.places) {
    if (place.row < 0) continue;
    parts.push_back({place.row, place.start_ns, place.end_ns, place.least_ns, place.most_ns});
  }
  return picture_request(parts, scene.canvas.window.span_ns(), scene.plot().w);
}

}  // namespace shardlens::ui::inspect
