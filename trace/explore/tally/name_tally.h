// The first pass over events: per name how many, how long, the longest one, and how durations are
// spread. One worker's, of one kind of events.
#pragma once

#include <cstdint>
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

class NameTally {
 public:
  // `numbers`: the names of the chunk's rank by string id (GlobalNames::numbers()); a live run
  // has more of them later.
  void add(const store::ChunkEntry& chunk, const store::EventColumns& columns, base::Interval range,
           std::span<const std::uint32_t> numbers);

  const std::vector<NameSum>& sums() const { return sums_; }
  const std::vector<std::uint32_t>& counts() const { return counts_; }  // the buckets' pool

 private:
  struct RankSlots {
    int rank = 0;
    std::vector<std::uint32_t> by_id;  // place in sums_ + 1; unknown ids have that of 0, ""
  };
  std::vector<std::uint32_t>& slots_of(int rank, std::size_t ids);
  std::uint32_t new_slot(std::uint32_t name);
  void add_block(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                 const EventBlock& block, std::span<const std::uint32_t> numbers,
                 std::vector<std::uint32_t>& slots);

  EventBlock block_;
  std::vector<NameSum> sums_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> by_name_;  // place in sums_ + 1
  std::vector<RankSlots> ranks_;
};

}  // namespace shardlens::trace::explore
