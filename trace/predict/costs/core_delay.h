// How much longer transfers take on a CPU whose cores compute: the threads that carry them out wait
// for one. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::predict {

// A transfer of a run.
struct ObservedTransfer {
  CollectiveKind kind;
  std::int64_t bytes = 0;
  double beside = 0;    // the share of its time in which ranks computed, mean over them
  double ns = 0;        // what it took
  double least_ns = 0;  // what its simulated link takes at least; 0: it passes none
};

// What such threads wait in one transfer is taken to be distributed exponentially: mostly little,
// now and then whole slices of the scheduler's time. A simulated link's time passes meanwhile, so
// that only what goes beyond it makes the transfer longer.
class CoreDelay {
 public:
  CoreDelay() = default;  // nobody waits
  // The slope of what transfers of one kind and size took over the share of it in which ranks
  // computed, by least squares. Nobody waits where that is not surely above 0 (three standard
  // errors), or where the shares hardly differ.
  static CoreDelay fit(const std::vector<ObservedTransfer>& transfers);

  bool exists() const { return wait_ns_ > 0; }
  // Of a transfer beside which ranks compute all the while, in the mean: with waits of mean w and a
  // link that takes l, w exp(−l / w). Waits that are shorter than the link took behind which they
  // were observed are not known: behind a faster one it is as much as behind that.
  double ns(double least_ns) const;
  // That link's time, in the mean.
  double observed_behind_ns() const { return behind_ns_; }
  // What these would have taken without it in the mean: each less its share, of which one that did
  // not wait is left with less than it took.
  MeasuredCollectives without(const std::vector<ObservedTransfer>& transfers) const;

 private:
  double wait_ns_ = 0, behind_ns_ = 0;
};

}  // namespace shardlens::trace::predict
