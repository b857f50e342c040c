// The second pass over events: which bin of its name's histogram each falls into, and the exact
// durations within the few buckets that hold a median or a p99. Workers share one of these, each
// with a part of its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "trace/explore/tally/name_tally.h"

namespace shardlens::trace::explore {

class ExactPass {
 public:
  // `totals` outlives this.
  ExactPass(const NameTotals& totals, int workers);

  // `numbers`: the names of the rank by string id.
  void add(int worker, int rank, const store::EventColumns& columns, base::Interval range,
           std::span<const std::uint32_t> numbers);

  // Once all workers are done; by place in NameTotals::names().
  std::array<std::uint32_t, timeline::kHistogramBins> bins(std::size_t name) const;
  std::int64_t median_ns(std::size_t name) const;
  std::int64_t p99_ns(std::size_t name) const;

 private:
  // What is noted of a bucket: the first bin that it touches, and
  static constexpr std::uint8_t kBinMask = 0x3f;
  static constexpr std::uint8_t kManyBins = 0x40;   // more than two bins touch it
  static constexpr std::uint8_t kCollected = 0x80;  // its durations are wanted
  // The durations that one bucket really has.
  struct Collected {
    std::vector<std::uint32_t> counts;    // by nanosecond, where there are many in few, or
    std::vector<std::int64_t> durations;  // as they come
  };
  struct Worker {
    EventBlock block;
    std::map<int, std::vector<std::uint32_t>> places;  // of names, by rank and string id
    std::vector<std::array<std::uint32_t, timeline::kHistogramBins>> bins;
    std::vector<std::array<Collected, 2>> collected;  // of median and p99
  };
  void prepare(std::size_t name);
  const std::vector<std::uint32_t>& places_of(Worker& worker, int rank,
                                              std::span<const std::uint32_t> numbers) const;
  void add_block(Worker& worker, const std::vector<std::uint32_t>& places) const;
  void collect(Worker& worker, std::size_t name, unsigned bucket, std::int64_t duration_ns) const;
  std::int64_t quantile_ns(std::size_t name, const QuantilePlace& place) const;

  const NameTotals& totals_;
  std::vector<BucketPlaces> buckets_;  // by name
  std::vector<std::uint8_t> codes_;    // their pool
  std::vector<Worker> workers_;
};

}  // namespace shardlens::trace::explore
