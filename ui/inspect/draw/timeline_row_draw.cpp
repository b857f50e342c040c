#include "ui/inspect/draw/timeline_row_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ui/inspect/timeline/item_facts.h"
#include "ui/kit/paint.h"
#include "ui/kit/timeline_quads.h"

namespace shardlens::ui::inspect {

namespace {

using trace::base::TimeClass;
using trace::timeline::RibbonColumn;
using trace::timeline::RowKind;
using trace::timeline::RowPicture;

bool over_columns(const RowCanvas& c, float x0, float x1, const state::Rect& area) {
  return c.mouse_inside && area.contains(c.mouse_x, c.mouse_y) && c.mouse_x >= x0 && c.mouse_x < x1;
}

// The highest value, in the row's upper right corner, on the panel's ground so that it is read.
void label_highest(const RowCanvas& c, const RowPlace& place, const RowPicture& picture) {
  // That it was throttled is seen.
  if (picture.area.empty() || !(picture.area_highest > 0) || place.unit == "share") return;
  const std::string text = area_value_text(picture.area_highest, place.unit);
  const float width = kit::text_width(c.theme, kit::Face::kMonoSmall, text) + c.theme.px(8);
  const float height = c.theme.px(14);
  if (width > place.area.w || height > place.area.h) return;
  const state::Rect box{place.area.right() - width - c.theme.px(2), place.area.y, width, height};
  kit::fill(box, kit::color(c.theme.colors().panel, 0.82f), c.theme.px(3));
  kit::text_in(c.theme, box, kit::Face::kMonoSmall, c.theme.colors().text_secondary, text,
               kit::Align::kCenter);
}

// From the ground up: what costs most is compared along one line.
constexpr std::array<TimeClass, trace::base::kPartitionClasses> kStacked{
    TimeClass::kExposed,   TimeClass::kCopy,    TimeClass::kOverlapped,
    TimeClass::kOptimizer, TimeClass::kCompute, TimeClass::kIdle};

// Columns of one height and class side by side are one rectangle.
class ColumnStack {
 public:
  ColumnStack(const RowCanvas& canvas, const RowPlace& place) : place_(place) {
    const state::Palette& p = canvas.theme.colors();
    for (std::size_t i = 0; i < kStacked.size(); ++i) {
      const float strength = kStacked[i] == TimeClass::kExposed ? 1.0f : place.quiet;
      const state::Rgb fill =
          state::mix(p.panel, state::time_color(p, kStacked[i]), static_cast<double>(strength));
      colors_[i] = kit::color(fill, canvas.dim);
    }
  }
  void add(const RibbonColumn& column, float x0, float x1) {
    const state::Rect& area = place_.area;
    float known = 0, bottom = area.bottom();
    for (std::size_t i = 0; i < kStacked.size(); ++i) {
      known += column.share[static_cast<std::size_t>(kStacked[i])];
      const float top = std::round(area.bottom() - std::min(known, 1.0f) * area.h);
      if (top < bottom) runs_[i].add(quads_, x0, top, x1, bottom, colors_[i]);
      bottom = std::min(bottom, top);
    }
  }
  ~ColumnStack() {
    for (kit::QuadRun& run : runs_) run.end(quads_);
  }
  ColumnStack(const ColumnStack&) = delete;
  ColumnStack& operator=(const ColumnStack&) = delete;

 private:
  const RowPlace& place_;
  std::array<ImU32, trace::base::kPartitionClasses> colors_{};
  std::array<kit::QuadRun, trace::base::kPartitionClasses> runs_;
  kit::QuadBatch quads_;
};

std::optional<RowItem> draw_columns(const RowCanvas& c, const RowPlace& place,
                                    const RowPicture& picture) {
  const bool smooth = place.smooth_ns > 0 && c.means != nullptr;
  const auto& columns = smooth ? c.means->columns(picture, place.smooth_ns) : picture.columns;
  std::optional<RowItem> hovered;
  ColumnStack stack(c, place);
  float drawn = place.area.x;
  for (const RibbonColumn& column : columns) {
    const float to = std::floor(c.x(column.end_ns - place.shift_ns));
    const float x1 = std::min(to, place.area.right());
    const float x0 = std::max(std::floor(c.x(column.start_ns - place.shift_ns)), drawn);
    if (x1 <= x0) continue;
    stack.add(column, x0, x1);
    drawn = x1;
    if (!over_columns(c, x0, x1, place.area)) continue;
    hovered = RowItem{.row = place.row,
                      .shift_ns = place.shift_ns,
                      .column = column,
                      .smooth_ns = smooth ? place.smooth_ns : 0};
  }
  return hovered;
}

std::optional<RowItem> draw_area(const RowCanvas& c, const RowPlace& place,
                                 const RowPicture& picture) {
  constexpr auto kNeutral = trace::model::MemoryCategory::kActivations;
  const state::Rgb ink = state::memory_color(c.theme.colors(), kNeutral);
  const double top_value = picture.area_top > 0 ? picture.area_top : picture.area_highest;
  const double range = top_value - picture.area_base;
  const double scale = range > 0 ? 1 / range : 0;
  const float edge = std::max(1.0f, c.theme.px(1));
  std::optional<RowItem> hovered;
  kit::QuadBatch quads;
  float drawn = place.area.x, before = -1;
  const bool smooth = place.smooth_ns > 0 && c.means != nullptr;
  const auto& points = smooth ? c.means->area(picture, place.smooth_ns) : picture.area;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& point = points[i];
    const bool last = i + 1 == points.size();
    // A picture may reach beyond what the rank recorded.
    const std::int64_t end =
        std::min(last ? picture.window.end_ns : points[i + 1].time_ns, place.most_ns);
    const float x1 = std::min(std::floor(c.x(end - place.shift_ns)), place.area.right());
    const float x0 = std::max(std::floor(c.x(point.time_ns - place.shift_ns)), drawn);
    if (x1 <= x0) continue;
    const auto y = [&](double value) {
      const double share = std::clamp((value - picture.area_base) * scale, 0.0, 1.0);
      return std::round(place.area.bottom() - static_cast<float>(share) * place.area.h);
    };
    const float top = y(std::max(point.highest, point.value)), mean = y(point.value);
    quads.add(x0, top, x1, mean, kit::color(ink, 0.16f));
    quads.add(x0, mean, x1, place.area.bottom(), kit::color(ink, 0.34f));
    quads.add(x0, top, x1, top + edge, kit::color(ink));
    if (before >= 0) {  // the riser between two levels
      quads.add(x0, std::min(top, before), x0 + edge, std::max(top, before) + edge,
                kit::color(ink));
    }
    drawn = x1;
    before = top;
    if (over_columns(c, x0, x1, place.area)) {
      hovered = RowItem{.row = place.row,
                        .shift_ns = place.shift_ns,
                        .point = point,
                        .smooth_ns = smooth ? place.smooth_ns : 0};
    }
  }
  quads.flush();
  label_highest(c, place, picture);
  return hovered;
}

}  // namespace

float RowCanvas::x(std::int64_t view_time_ns) const {
  constexpr double kBeyond = 0.05;
  const double position = std::clamp(window.position(view_time_ns), -kBeyond, 1 + kBeyond);
  return plot.x + static_cast<float>(position * static_cast<double>(plot.w));
}

std::optional<RowItem> draw_row(const RowCanvas& canvas, const RowPlace& place,
                                const RowPicture& picture, const std::vector<std::string>& names) {
  switch (place.kind) {
    case RowKind::kMemory:
    case RowKind::kCounter:
    case RowKind::kGpu:
      return draw_area(canvas, place, picture);
    case RowKind::kReady:
      return draw_ready(canvas, place, picture, names);
    case RowKind::kRibbon:
      if (!picture.columns.empty()) return draw_columns(canvas, place, picture);
      break;
    default:
      break;
  }
  return draw_pieces(canvas, place, picture, names);
}

std::int64_t ribbon_smoothing(const TimeWindow& window, float width, std::int64_t step_ns,
                              float narrow) {
  const double pixels =
      static_cast<double>(step_ns) / window.span_ns() * static_cast<double>(width);
  return pixels < static_cast<double>(narrow) ? step_ns : 0;
}

}  // namespace shardlens::ui::inspect
