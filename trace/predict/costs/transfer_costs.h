// What it takes to move data, from the sizes that were measured. Waiting for other ranks is no part
// of it. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace shardlens::trace::predict {

// Times in nanoseconds, from the last rank's start to the end, by size in bytes.
using MeasuredTransfers = std::map<double, std::vector<double>>;

// Of one collective function in one process group.
class TransferCosts {
 public:
  explicit TransferCosts(const MeasuredTransfers& measured);

  struct Cost {
    double ns = 0;
    // Half of what lies between the quartiles of what was measured there; of a single transfer, the
    // widest of the others in proportion. With half of a jump that lies on the way.
    double spread_ns = 0;
    bool is_extrapolated = false;  // no size was measured on one of its sides
    // It may be so much less or more: no slope is known, and it lies between what bytes make
    // nothing of and what is in proportion to them.
    double unsure_ns = 0;
  };
  // Linear between means of measured sizes (steps are told by their mean, too), between those that
  // are far apart by half of a jump more where the way to the next is steeper than the way on, and
  // beyond them as between the two outermost that are a factor of two apart, where more bytes never
  // take less time. None: nothing was measured, or not that far (a sixteenth of the smallest, four
  // times the largest; where no two are so far apart, a fourth of the smallest).
  std::optional<Cost> of(double bytes) const;
  // Whether a size within a tenth was.
  bool measures(double bytes) const;

 private:
  struct Point {
    double bytes = 0, mean_ns = 0, spread_ns = 0;
  };
  double half_jump_ns(double bytes, double line_ns, std::size_t next) const;

  std::vector<Point> points_;  // by size; sizes within a tenth of each other are one
};

}  // namespace shardlens::trace::predict
