// Where the time went, column by column: the ribbons of ui/inspect/timeline_row_draw.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ui/inspect/timeline_colors.h"
#include "ui/inspect/timeline_quads.h"
#include "ui/inspect/timeline_row_draw.h"
#include "ui/paint.h"

namespace shardlens::ui {

namespace {

using trace::PieceClass;
using trace::RibbonColumn;

using Shares = std::array<double, trace::kRibbonClasses>;

// From the ground up: what costs most is compared along one line.
constexpr std::array<PieceClass, trace::kRibbonClasses> kStacked{
    PieceClass::kExposed,   PieceClass::kCopy,    PieceClass::kOverlapped,
    PieceClass::kOptimizer, PieceClass::kCompute, PieceClass::kIdle};

// Nanoseconds by class from the first column up to any time, for times that only grow.
class RibbonIntegral {
 public:
  explicit RibbonIntegral(const std::vector<RibbonColumn>& columns) : columns_(columns) {}

  const Shares& up_to(double time) {
    for (; index_ < columns_.size() && end(index_) <= time; ++index_) {
      add(whole_, index_, end(index_));
    }
    at_ = whole_;
    if (index_ < columns_.size() && start(index_) < time) add(at_, index_, time);
    return at_;
  }

 private:
  double start(std::size_t i) const {
    return distance_ns(columns_[i].start_ns, columns_.front().start_ns);
  }
  double end(std::size_t i) const {
    return distance_ns(columns_[i].end_ns, columns_.front().start_ns);
  }
  void add(Shares& sum, std::size_t i, double until) const {
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += (until - start(i)) * static_cast<double>(columns_[i].share[k]);
    }
  }

  const std::vector<RibbonColumn>& columns_;
  std::size_t index_ = 0;
  Shares whole_{}, at_{};
};

// Every column as the mean over `smooth_ns` around its middle.
std::vector<RibbonColumn> smoothed(const std::vector<RibbonColumn>& columns,
                                   std::int64_t smooth_ns) {
  std::vector<RibbonColumn> out = columns;
  RibbonIntegral low(columns), high(columns);
  const double half = static_cast<double>(smooth_ns) / 2;
  const double all = distance_ns(columns.back().end_ns, columns.front().start_ns);
  for (RibbonColumn& column : out) {
    const double start = distance_ns(column.start_ns, columns.front().start_ns);
    const double middle = start + distance_ns(column.end_ns, column.start_ns) / 2;
    const double from = std::max(middle - half, 0.0), to = std::min(middle + half, all);
    const Shares before = low.up_to(from);
    const Shares& behind = high.up_to(to);
    for (std::size_t k = 0; k < before.size(); ++k) {
      column.share[k] =
          static_cast<float>(std::max(behind[k] - before[k], 0.0) / std::max(to - from, 1.0));
    }
  }
  return out;
}

void stack_column(QuadBatch& quads, const RowCanvas& c, const RowPlace& place,
                  const RibbonColumn& column, float x0, float x1) {
  const Palette& p = c.look.colors();
  const Rect& area = place.area;
  float known = 0, bottom = area.bottom();
  for (const PieceClass piece_class : kStacked) {
    known += column.share[static_cast<std::size_t>(piece_class)];
    const float top = std::round(area.bottom() - std::min(known, 1.0f) * area.h);
    const float strength = piece_class == PieceClass::kExposed ? 1.0f : place.quiet;
    quads.add(
        x0, top, x1, bottom,
        color(mix(p.panel, piece_color(p, piece_class), static_cast<double>(strength)), c.dim));
    bottom = std::min(bottom, top);
  }
}

}  // namespace

std::optional<RowItem> draw_columns(const RowCanvas& c, const RowPlace& place,
                                    const trace::RowPicture& picture) {
  std::vector<RibbonColumn> means;
  if (picture.columns.empty()) return std::nullopt;
  if (place.smooth_ns > 0) means = smoothed(picture.columns, place.smooth_ns);
  std::optional<RowItem> hovered;
  QuadBatch quads;
  float drawn = place.area.x;
  for (const RibbonColumn& column : place.smooth_ns > 0 ? means : picture.columns) {
    const float to = std::floor(c.x(column.end_ns - place.shift_ns));
    const float x1 = std::min(to, place.area.right());
    const float x0 = std::max(std::floor(c.x(column.start_ns - place.shift_ns)), drawn);
    if (x1 <= x0) continue;
    stack_column(quads, c, place, column, x0, x1);
    drawn = x1;
    const bool over = c.mouse_inside && place.area.contains(c.mouse_x, c.mouse_y);
    if (!over || c.mouse_x < x0 || c.mouse_x >= x1) continue;
    hovered = RowItem{.row = place.row,
                      .shift_ns = place.shift_ns,
                      .column = column,
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

}  // namespace shardlens::ui
