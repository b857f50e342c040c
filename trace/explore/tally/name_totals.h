// What all workers' first passes found together, and in which bucket of durations each name's
// median and p99 lie. Built once, then any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/explore/tally/duration_bins.h"
#include "trace/explore/tally/name_tally.h"

namespace shardlens::trace::explore {

// ⌈q·n⌉ for q in hundredths: positions in the order of durations count from 1.
inline std::int64_t nearest_rank(std::int64_t count, std::int64_t hundredths) {
  return (count / 100) * hundredths + ((count % 100) * hundredths + 99) / 100;
}

// Where a quantile lies: the n-th shortest event of one bucket.
struct QuantilePlace {
  unsigned bucket = 0;
  std::int64_t position = 0;  // within the bucket, from 1
  std::int64_t in_bucket = 0;
};

struct NameTotal {
  NameSum sum;
  std::int64_t count = 0;
  QuantilePlace median, p99;
  DurationBins bins;
};

class NameTotals {
 public:
  NameTotals() = default;
  explicit NameTotals(std::span<const NameTally* const> tallies);

  const std::vector<NameTotal>& names() const { return names_; }
  // visit(bucket) for every bucket that may hold durations of a name.
  template <typename Visit>
  void for_each_bucket(std::size_t name, Visit&& visit) const {
    names_[name].sum.buckets.for_each(counts_, [&](unsigned bucket, std::uint32_t count) {
      if (count > 0) visit(bucket);
    });
  }
  // Place in names(); only for names that were tallied.
  std::uint32_t place_of(std::uint32_t name) const {
    return name < by_name_.size() ? by_name_[name] : 0;
  }

 private:
  void complete(NameTotal& total);

  std::vector<NameTotal> names_;
  std::vector<std::uint32_t> counts_;  // the buckets' pool
  std::vector<std::uint32_t> by_name_;
};

}  // namespace shardlens::trace::explore
