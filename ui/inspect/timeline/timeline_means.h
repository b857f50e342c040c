// Ribbons and areas as means over a step, for zooms at which steps are narrower than a few pixels:
// worked out once for each picture, drawn as often as wanted. Free of ImGui; one thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/timeline/values/picture.h"

namespace shardlens::ui::inspect {

// Every column as the mean over `smooth_ns` around its middle.
std::vector<trace::timeline::RibbonColumn> mean_columns(
    const std::vector<trace::timeline::RibbonColumn>& columns, std::int64_t smooth_ns);
// Every point as the mean and the highest value of `smooth_ns` around it.
std::vector<trace::timeline::AreaPoint> mean_area(
    const std::vector<trace::timeline::AreaPoint>& points, std::int64_t smooth_ns);

class RowMeans {
 public:
  // Rows are known by where they lie: whoever keeps the picture replaces its means with it.
  const std::vector<trace::timeline::RibbonColumn>& columns(const trace::timeline::RowPicture& row,
                                                            std::int64_t smooth_ns) {
    return kept(row, smooth_ns).columns;
  }
  const std::vector<trace::timeline::AreaPoint>& area(const trace::timeline::RowPicture& row,
                                                      std::int64_t smooth_ns) {
    return kept(row, smooth_ns).area;
  }

 private:
  struct Kept {
    std::int64_t smooth_ns = 0;
    std::vector<trace::timeline::RibbonColumn> columns;
    std::vector<trace::timeline::AreaPoint> area;
  };
  const Kept& kept(const trace::timeline::RowPicture& row, std::int64_t smooth_ns);

  std::unordered_map<const trace::timeline::RowPicture*, Kept> kept_;
};

}  // namespace shardlens::ui::inspect
