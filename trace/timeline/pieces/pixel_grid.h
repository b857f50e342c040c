// Columns of a pixel's length on the absolute time axis, so that what falls together does not
// change while the view moves. Plain value, any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "trace/base/intervals.h"

namespace shardlens::trace::timeline {

class PixelGrid {
 public:
  // Columns of whole nanoseconds, at least one; what is no length counts as the shortest.
  explicit PixelGrid(double ns_per_pixel)
      : column_ns_(ns_per_pixel > 1
                       ? static_cast<std::int64_t>(std::ceil(std::min(ns_per_pixel, kLongestPixel)))
                       : 1) {}
  static PixelGrid of_columns(std::int64_t column_ns) {
    return PixelGrid(static_cast<double>(column_ns));
  }

  std::int64_t column_ns() const { return column_ns_; }
  std::int64_t column_at(std::int64_t time_ns) const {
    const std::int64_t quotient = time_ns / column_ns_;
    return time_ns % column_ns_ < 0 ? quotient - 1 : quotient;
  }
  std::int64_t start_of(std::int64_t column) const { return column * column_ns_; }
  // The columns that a window touches, whole.
  base::Interval around(base::Interval window) const {
    return {start_of(column_at(window.start_ns)), window.end_ns > window.start_ns
                                                      ? start_of(column_at(window.end_ns - 1) + 1)
                                                      : start_of(column_at(window.start_ns))};
  }

 private:
  static constexpr double kLongestPixel = 1e15;  // eleven days
  std::int64_t column_ns_;
};

}  // namespace shardlens::trace::timeline
