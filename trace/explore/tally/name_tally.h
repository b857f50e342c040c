// The first pass over events: per name how many, how long, the longest one, how durations are
// spread, and in which bucket of them median and p99 lie. Of one kind of events.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "trace/explore/tally/duration_bins.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/event_columns.h"

namespace shardlens::trace::explore {

// The events of a chunk that begin in a range, some at a time, unpacked for a tight loop: as many
// as fit the processor's first cache.
inline constexpr std::size_t kEventBlock = 1024;

struct EventBlock {
  std::array<std::uint32_t, kEventBlock> names;
  std::array<std::int64_t, kEventBlock> durations;  // 0 of what ended before it started
  std::array<std::uint32_t, kEventBlock> indices;   // within the chunk; with `first` unused
  std::size_t size = 0;
  std::size_t first = 0;  // of neighbours
  bool are_neighbours = true;

  std::size_t index(std::size_t i) const { return are_neighbours ? first + i : indices[i]; }
};

namespace detail {

template <typename Visit>
void for_each_neighbour_block(const store::EventColumns& columns, std::size_t first,
                              std::size_t end, EventBlock& block, Visit&& visit) {
  block.are_neighbours = true;
  for (; first < end; first += block.size) {
    block.first = first;
    block.size = std::min(kEventBlock, end - first);
    columns.names().copy_to(first, std::span(block.names).first(block.size));
    columns.durations().copy_to(first, std::span(block.durations).first(block.size));
    if (columns.durations().least() < 0) {
      for (std::size_t i = 0; i < block.size; ++i) {
        block.durations[i] = std::max<std::int64_t>(0, block.durations[i]);
      }
    }
    visit(block);
  }
}

}  // namespace detail

template <typename Visit>
void for_each_block(const store::EventColumns& columns, base::Interval range, EventBlock& block,
                    Visit&& visit) {
  if (columns.is_ordered()) {
    const std::size_t size = columns.size();
    const bool from_first = size > 0 && columns.start_ns(0) >= range.start_ns;
    const bool to_last = size > 0 && columns.start_ns(size - 1) < range.end_ns;
    const std::size_t first = from_first ? 0 : columns.first_from(range.start_ns);
    const std::size_t end = to_last ? size : columns.first_from(range.end_ns);
    return detail::for_each_neighbour_block(columns, first, end, block, visit);
  }
  block.are_neighbours = false;
  block.size = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int64_t start_ns = columns.start_ns(i);
    if (start_ns < range.start_ns || start_ns >= range.end_ns) continue;
    block.names[block.size] = columns.name(i);
    block.durations[block.size] = std::max<std::int64_t>(0, columns.duration_ns(i));
    block.indices[block.size] = static_cast<std::uint32_t>(i);
    if (++block.size < kEventBlock) continue;
    visit(block);
    block.size = 0;
  }
  if (block.size > 0) visit(block);
}

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
