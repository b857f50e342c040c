// Where the time went, column by column: the ribbons of ui/inspect/draw/timeline_row_draw.h.
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/inspect/draw/timeline_row_draw.h"
#include "ui/kit/paint.h"
#include "ui/kit/timeline_quads.h"

namespace shardlens::ui::inspect {

namespace {

using trace::base::TimeClass;
using trace::timeline::RibbonColumn;

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

}  // namespace

std::optional<RowItem> draw_columns(const RowCanvas& c, const RowPlace& place,
                                    const trace::timeline::RowPicture& picture) {
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
    const bool over = c.mouse_inside && place.area.contains(c.mouse_x, c.mouse_y);
    if (!over || c.mouse_x < x0 || c.mouse_x >= x1) continue;
    hovered = RowItem{.row = place.row,
                      .shift_ns = place.shift_ns,
                      .column = column,
                      .smooth_ns = smooth ? place.smooth_ns : 0,
                      .rect = {x0, place.area.y, x1 - x0, place.area.h}};
  }
  return hovered;
}

std::int64_t ribbon_smoothing(const TimeWindow& window, float width, std::int64_t step_ns,
                              float narrow) {
  const double pixels =
      static_cast<double>(step_ns) / window.span_ns() * static_cast<double>(width);
  return pixels < static_cast<double>(narrow) ? step_ns : 0;
}

}  // namespace shardlens::ui::inspect
