// The first pass over events: per name how many, how long, the longest one, how durations are
// spread, and in which bucket of them median and p99 lie. Of one kind of events.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "trace/explore/tally/duration_bins.h"
#include "trace/explore/tally/event_blocks.h"
#include "trace/store/chunk/chunk_entry.h"

namespace shardlens::trace::explore {

struct LongestEvent {
  std::int64_t duration_ns = -1;  // −1: none yet
  std::int64_t start_ns = 0;
  int rank = 0;
  std::int64_t chunk = 0;  // its row
  std::uint32_t index = 0;

  // Of equally long ones the first.
  bool yields_to(const LongestEvent& other) const;
};

struct NameSum {
  std::uint32_t name = 0;     // of all ranks
  std::int64_t total_ns = 0;  // INT64_MAX: more than that
  std::int64_t least_ns = INT64_MAX;
  std::int64_t bytes = 0;
  LongestEvent longest;
  BucketPlaces buckets;  // how many events each holds

  void add(const NameSum& other);  // but for the buckets
};

// One worker's.
class NameTally {
 public:
  // `numbers`: the names of the chunk's rank by string id (GlobalNames::numbers()); a live run
  // has more of them later.
  void add(const store::ChunkEntry& chunk, const store::EventColumns& columns, base::Interval range,
           std::span<const std::uint32_t> numbers);

  const std::vector<NameSum>& sums() const { return sums_; }
  const std::vector<std::uint32_t>& counts() const { return counts_; }  // the buckets' pool

 private:
  std::uint32_t new_slot(std::uint32_t name);
  void add_block(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                 const EventBlock& block, std::span<const std::uint32_t> numbers,
                 std::vector<std::uint32_t>& slots);

  EventBlock block_;
  std::vector<NameSum> sums_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> by_name_;  // place in sums_ + 1
  // By rank and id: place in sums_ + 1; unknown ids have that of 0, "".
  std::map<int, std::vector<std::uint32_t>> slots_;
};

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

// What all workers found together. Built once, then any thread.
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
