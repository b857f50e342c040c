#include <algorithm>
#include <cmath>
#include <string>

#include "ui/inspect/draw/timeline_parts.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

// In the window's time; steps that lie one above the other have one each.
void draw_band(const TimelineScene& scene, const state::Rect& area,
               const trace::base::Interval& view) {
  const state::Palette& p = scene.theme().colors();
  const float x0 = std::round(scene.canvas.x(view.start_ns));
  const float x1 = std::max(std::round(scene.canvas.x(view.end_ns)), x0 + 1);
  kit::fill({x0, area.y, x1 - x0, area.h}, kit::color(p.accent, 0.13f));
  kit::line(x0, area.y, x0, area.bottom(), kit::color(p.accent));
  kit::line(x1 - 1, area.y, x1 - 1, area.bottom(), kit::color(p.accent));
}

// Words in a box that lies over everything else.
void draw_tag(const kit::Theme& theme, const state::Rect& box, state::Rgb edge, kit::Face face,
              state::Rgb ink, const std::string& words) {
  if (theme.probe != nullptr) ++theme.probe->layer;
  kit::bordered(box, kit::color(theme.colors().popup), kit::color(edge), theme.px(4));
  kit::text_in(theme, box, face, ink, words, kit::Align::kCenter);
  if (theme.probe != nullptr) --theme.probe->layer;
}

void label_band(const TimelineScene& scene, const state::Rect& area,
                const trace::base::Interval& view) {
  const kit::Theme& theme = scene.theme();
  const state::Palette& p = theme.colors();
  const std::string text = present::length_text(view.end_ns - view.start_ns);
  const float width = kit::text_width(theme, kit::Face::kMono, text) + theme.px(14);
  const float center = (scene.canvas.x(view.start_ns) + scene.canvas.x(view.end_ns)) / 2;
  if (width > area.w || center < area.x || center > area.right()) return;
  const float height = std::min(theme.px(22), area.h);
  const state::Rect box{std::clamp(std::round(center - width / 2), area.x, area.right() - width),
                        area.bottom() - height - theme.px(2), width, height};
  draw_tag(theme, box, p.accent, kit::Face::kMono, p.accent_text, text);
}

// The row of an event that is shown, or its rank's ribbon.
const RowPlace* visible_place(const TimelineScene& scene,
                              const trace::timeline::EventPlace& place) {
  if (const RowPlace* own = scene.place_of(place.row, place.start_ns)) return own;
  for (const trace::timeline::TimelineRank& rank : scene.rows.ranks) {
    if (rank.rank != place.ref.rank || rank.rows.empty()) continue;
    return scene.place_of(rank.rows.front(), place.start_ns);
  }
  return nullptr;
}

void arrow(const TimelineScene& scene, const ImVec2& from, const ImVec2& to) {
  const kit::Theme& theme = scene.theme();
  const ImU32 ink = kit::color(theme.colors().text, 0.85f);
  const float reach = std::clamp(std::abs(to.x - from.x) / 2, theme.px(10), theme.px(80));
  const float size = theme.px(7);
  ImGui::GetWindowDrawList()->AddBezierCubic(from, {from.x + reach, from.y}, {to.x - reach, to.y},
                                             {to.x - size * 0.6f, to.y}, ink,
                                             std::max(1.0f, theme.px(1.3f)), 24);
  kit::shape(kit::Shape::kRight, to.x - size / 2, to.y, size, ink);
}

// From a launch to the kernel or copy that it started, whichever of them was picked.
void connect_launch(const TimelineScene& scene, const trace::timeline::EventPlace& picked,
                    const trace::timeline::EventPlace& other) {
  const bool is_launch = picked.ref.table == trace::timeline::EventTableKind::kLaunch;
  const trace::timeline::EventPlace& launch = is_launch ? picked : other;
  const trace::timeline::EventPlace& work = is_launch ? other : picked;
  const bool is_work = work.ref.table == trace::timeline::EventTableKind::kKernel ||
                       work.ref.table == trace::timeline::EventTableKind::kCopy;
  if (launch.ref.table != trace::timeline::EventTableKind::kLaunch || !is_work) return;
  if (std::max(launch.start_ns, work.start_ns) >= scene.known_until_ns) return;
  const RowPlace* from = scene.place_of(launch.row, launch.start_ns);
  const RowPlace* to = scene.place_of(work.row, work.start_ns);
  if (from == nullptr || to == nullptr) return;
  const state::Rect source = scene.rect_of(*from, launch.start_ns, launch.end_ns, -1);
  const state::Rect target = scene.rect_of(*to, work.start_ns, work.end_ns, -1);
  if (!source.overlaps(scene.plot()) || !target.overlaps(scene.plot())) return;
  arrow(scene, {source.right(), source.center_y()}, {target.x, target.center_y()});
}

}  // namespace

void draw_interval(const TimelineScene& scene, const trace::base::Interval& interval, bool measure,
                   TimelineState::Mode mode) {
  const kit::Clip clip(scene.plot());
  if (mode == TimelineState::Mode::kTime) {
    draw_band(scene, scene.plot(), interval);
    state::Rect area = scene.plot();
    if (measure) area.h -= scene.theme().px(26);  // above the selection's own label
    return label_band(scene, area, interval);
  }
  for (std::size_t i = 0; i < scene.places.size();) {
    const std::int64_t shift = scene.places[i].shift_ns;
    state::Rect area = scene.places[i].area;
    const std::int64_t start = scene.places[i].start_ns, end = scene.places[i].end_ns;
    while (i < scene.places.size() && scene.places[i].shift_ns == shift) {
      area.h = scene.places[i++].area.bottom() - area.y;
    }
    if (interval.end_ns <= start || interval.start_ns >= end) continue;
    const trace::base::Interval view{interval.start_ns - shift, interval.end_ns - shift};
    draw_band(scene, area, view);
    label_band(scene, area, view);
  }
}

void draw_cursor(const TimelineScene& scene, std::int64_t origin_ns) {
  const RowCanvas& c = scene.canvas;
  if (!c.mouse_inside || !c.plot.contains(c.mouse_x, c.mouse_y)) return;
  const kit::Theme& theme = c.theme;
  const state::Palette& p = theme.colors();
  const float x = std::round(c.mouse_x);
  kit::line(x, scene.axis.y, x, c.plot.bottom(), kit::color(p.text_muted, 0.45f));
  // To a pixel's worth of time, rounded down to a power of ten.
  const double pixel = std::max(1.0, c.window.span_ns() / static_cast<double>(c.plot.w));
  const auto step = static_cast<std::int64_t>(std::pow(10.0, std::floor(std::log10(pixel))));
  const std::string time = present::exact_text(scene.view_time_at(c.mouse_x) - origin_ns, step);
  const float width = kit::text_width(theme, kit::Face::kMonoSmall, time) + theme.px(12);
  const float left =
      std::clamp(x - width / 2, scene.axis.x, std::max(scene.axis.x, scene.axis.right() - width));
  const state::Rect box{std::round(left), scene.axis.y, width, scene.axis.h - theme.px(2)};
  draw_tag(theme, box, p.field_edge, kit::Face::kMonoSmall, p.text, time);
}

void draw_selected_row(const TimelineScene& scene, int row) {
  const kit::Clip clip(scene.rows_area());
  for (const RowPlace& place : scene.places) {
    if (place.row != row) continue;
    const float gap = scene.theme().px(2);
    kit::fill({scene.labels.x, place.area.y - gap, scene.rows_area().w, place.area.h + 2 * gap},
              kit::color(scene.theme().colors().row_selected), scene.theme().px(3));
  }
}

void draw_bookmarks(const TimelineScene& scene, const trace::model::Bookmarks& bookmarks,
                    std::int64_t origin_ns) {
  const kit::Theme& theme = scene.theme();
  const state::Rgb ink = theme.colors().accent;
  for (const trace::model::Bookmark& bookmark : bookmarks) {
    const float x = std::round(scene.canvas.x(bookmark.time_ns));
    if (x < scene.plot().x || x >= scene.plot().right()) continue;
    kit::line(x, scene.axis.bottom() - theme.px(6), x, scene.plot().bottom(),
              kit::color(ink, 0.6f));
    kit::shape(kit::Shape::kDown, x, scene.axis.bottom() - theme.px(6), theme.px(9),
               kit::color(ink));
    const state::Rect handle{x - theme.px(7), scene.axis.bottom() - theme.px(14), theme.px(14),
                             theme.px(14)};
    kit::explain(theme, handle, bookmark.name.empty() ? "Bookmark" : bookmark.name,
                 present::exact_text(bookmark.time_ns - origin_ns, 1'000));
  }
}

void draw_picked(const TimelineScene& scene, const trace::timeline::EventPlace& picked) {
  const RowPlace* place = visible_place(scene, picked);
  if (place == nullptr) return;
  const trace::timeline::Piece* piece = scene.pictures.find(picked);
  const int level = piece != nullptr ? piece->level : -1;
  const state::Rect rect = scene.rect_of(*place, picked.start_ns, picked.end_ns, level);
  const state::Palette& p = scene.theme().colors();
  const kit::Clip clip(scene.plot());
  kit::outline({rect.x - 2, rect.y - 2, rect.w + 3, rect.h + 4}, kit::color(p.panel), 3, 1);
  kit::outline({rect.x - 1, rect.y - 1, rect.w + 1, rect.h + 2}, kit::color(p.text), 2,
               std::max(1.0f, scene.theme().px(1.5f)));
}

void draw_connections(const TimelineScene& scene, const trace::timeline::EventDetails& details) {
  const kit::Clip clip(scene.plot());
  const state::Palette& p = scene.theme().colors();
  const ImU32 ink = kit::color(p.text, 0.8f);
  const float thickness = std::max(1.0f, scene.theme().px(1.2f));
  bool has_before = false;
  ImVec2 before;
  for (const trace::timeline::RankCall& call : details.calls) {
    const RowPlace* place = visible_place(scene, call.place);
    if (place == nullptr) continue;
    const state::Rect rect = scene.rect_of(*place, call.start_ns, call.end_ns, -1);
    // From transfer to transfer: it began on all ranks at once.
    const std::int64_t transfer = call.start_ns + call.wait.wait_ns.value_or(0);
    const float x = std::round(scene.canvas.x(transfer - place->shift_ns));
    if (has_before) {
      ImGui::GetWindowDrawList()->AddLine(before, {x, rect.y}, ink, thickness);
    }
    kit::outline({rect.x - 1, rect.y - 1, rect.w + 1, rect.h + 2}, ink, 1);
    before = {x, rect.bottom()};
    has_before = true;
  }
  for (const trace::timeline::DetailLink& link : details.links) {
    connect_launch(scene, details.place, link.target);
  }
}

void draw_scroll(const TimelineScene& scene, float content, float scroll) {
  const state::Rect& plot = scene.plot();
  if (content <= plot.h + 1) return;
  const kit::Theme& theme = scene.theme();
  const float length = std::max(theme.px(16), plot.h * plot.h / content);
  const float at = scroll / (content - plot.h) * (plot.h - length);
  kit::fill({plot.right() + theme.px(3), plot.y + at, theme.px(3), length},
            kit::color(theme.colors().idle_edge), theme.px(1.5f));
}

}  // namespace shardlens::ui::inspect
