// What it takes to move data, from the sizes that were measured. Waiting for other ranks is no part
// of it. One owner, or const.
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace shardlens::trace::predict {

// Of one collective function in one process group.
class TransferCosts {
 public:
  // `transfer_ns`: from the last rank's start to the end.
  void add(double bytes, double transfer_ns);

  struct Cost {
    double ns = 0;
    double spread_ns = 0;  // half of what lies between the quartiles of what was measured there
    bool is_extrapolated = false;  // no size was measured on one of its sides
  };
  // Linear between medians of measured sizes, and beyond them as between the two outermost that are
  // a factor of two apart. None: nothing was measured, or not that far (a sixteenth of the
  // smallest, four times the largest).
  std::optional<Cost> of(double bytes) const;

 private:
  struct Point {
    double bytes = 0, median_ns = 0, spread_ns = 0;
  };
  std::vector<Point> points() const;  // by size; sizes within a tenth of each other are one

  std::map<double, std::vector<double>> measured_;  // by size
};

}  // namespace shardlens::trace::predict
