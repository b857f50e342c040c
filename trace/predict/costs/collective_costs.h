// What collectives cost, by function, ranks and size, as a value: measured in a run, by `shardlens
// calibrate` or by nccl-tests. Waiting for other ranks is no part of it. Any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::predict {

// Times in nanoseconds, from the last rank's start to the end, by size in bytes.
using MeasuredTransfers = std::map<double, std::vector<double>>;

// Of one collective function in one process group.
class TransferCosts {
 public:
  explicit TransferCosts(const MeasuredTransfers& measured);

  struct Cost {
    double ns = 0;
    // Half of what lies between the quartiles of what was measured there; of a single transfer, in
    // proportion, that of the nearest size that was measured more than once. With half of a jump
    // that lies on the way.
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
  double spread_of_nearest(std::size_t point, const std::vector<std::size_t>& single) const;
  static double spread_at(double bytes, const Point& before, const Point& next);
  double half_jump_ns(double bytes, double line_ns, std::size_t next) const;

  std::vector<Point> points_;  // by size; sizes within a tenth of each other are one
};

// What was asked for, between how many ranks. Not what the backend made of it: Gloo runs a
// reduce-scatter as an all-reduce, which takes longer, and on a simulated link still half as long.
struct CollectiveKind {
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  int ranks = 0;  // of the group
  auto operator<=>(const CollectiveKind&) const = default;
};

// Sizes are S of nccl-tests: the total over ranks for gather and scatter.
using MeasuredCollectives = std::map<CollectiveKind, MeasuredTransfers>;

// One size of one kind, summed up.
struct CostRow {
  CollectiveKind kind;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> count;  // calls; none: the source does not say
  double median_ns = 0;               // from the last rank's start to the end
  std::optional<double> lower_quartile_ns, upper_quartile_ns;  // none: the spread is not known

  bool operator==(const CostRow&) const = default;
};

// By kind, then by size.
std::vector<CostRow> rows_of(const MeasuredCollectives& measured);
// What has the same medians and quartiles. Its mean, which is the cost of a size, lies between
// them: where every other call is held up, as small ones are, the median would tell of none.
MeasuredCollectives measured_from(const std::vector<CostRow>& rows);

class CollectiveCosts {
 public:
  CollectiveCosts() = default;
  explicit CollectiveCosts(MeasuredCollectives measured);

  bool empty() const { return measured_.empty(); }
  const MeasuredCollectives& measured() const { return measured_; }
  // Of one kind by size; nullptr: nothing was measured.
  const TransferCosts* find(CollectiveKind kind) const;
  // None: nothing was measured, or not that far; see TransferCosts.
  std::optional<TransferCosts::Cost> of(CollectiveKind kind, double bytes) const;

  bool measures(CollectiveKind kind, double bytes) const;

  // These, and what `calibration` knows of kinds and sizes for which these have nothing within a
  // factor of two. Beside each other the two may disagree (a run's transfers share its cores with
  // what it computes): since moving more never takes less, what is filled in is held between the
  // means of the smaller and the larger sizes that are here.
  CollectiveCosts filled_from(const CollectiveCosts& calibration) const;

 private:
  MeasuredCollectives measured_;
  std::map<CollectiveKind, TransferCosts> costs_;
};

}  // namespace shardlens::trace::predict
