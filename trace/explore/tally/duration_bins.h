// Durations counted by their length: the bins of a DurationHistogram, whole nanoseconds from which
// on a duration belongs to the next one, and buckets for quantiles. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace::explore {

class DurationBins {
 public:
  DurationBins() = default;
  // Of equal ratio from the shortest, or 1 ns, to the longest. All alike: the first bin has them.
  DurationBins(std::int64_t least_ns, std::int64_t most_ns);

  double first_ns() const { return first_ns_; }
  double last_ns() const { return last_ns_; }
  // Durations of bin i are below end_ns(i), except the last one's.
  std::int64_t end_ns(int bin) const { return ends_[static_cast<std::size_t>(bin)]; }
  int bin_of(std::int64_t duration_ns) const;

 private:
  double first_ns_ = 0, last_ns_ = 0;
  std::array<std::int64_t, timeline::kHistogramBins> ends_{};
};

// A logarithmic scale, fine enough to say where a quantile lies: 64 buckets per octave, one per
// nanosecond below 128 ns. As in HdrHistogram (hdrhistogram.org).
inline constexpr unsigned kBlockBits = 6;
inline constexpr unsigned kBlockBuckets = 1u << kBlockBits;
inline constexpr unsigned kBucketBlocks = 58;  // up to 2^63 − 1 ns
inline constexpr unsigned kDurationBuckets = kBucketBlocks * kBlockBuckets;

// `duration_ns` ≥ 0.
inline unsigned bucket_of(std::int64_t duration_ns) {
  const auto value = static_cast<std::uint64_t>(duration_ns);
  const int shift = std::max(0, 57 - std::countl_zero(value | 1));
  return (static_cast<unsigned>(shift) << kBlockBits) + static_cast<unsigned>(value >> shift);
}
inline std::int64_t bucket_width(unsigned bucket) {
  return bucket < 2 * kBlockBuckets ? 1 : std::int64_t{1} << (bucket / kBlockBuckets - 1);
}
inline std::int64_t bucket_start(unsigned bucket) {
  if (bucket < 2 * kBlockBuckets) return bucket;
  return static_cast<std::int64_t>(kBlockBuckets + bucket % kBlockBuckets) * bucket_width(bucket);
}

// Where the buckets of one name lie in a pool that many names share: most use few octaves.
class BucketPlaces {
 public:
  template <typename Value>
  Value& in(std::vector<Value>& pool, unsigned bucket) {
    std::uint32_t& block = blocks_[bucket >> kBlockBits];
    if (block == 0) [[unlikely]] {
      // The first place of the pool belongs to nobody.
      if (pool.empty()) pool.resize(kBlockBuckets);
      block = static_cast<std::uint32_t>(pool.size() >> kBlockBits);
      pool.resize(pool.size() + kBlockBuckets);
    }
    return pool[(std::size_t{block} << kBlockBits) + bucket % kBlockBuckets];
  }
  // Of a bucket that in() was asked for.
  template <typename Value>
  const Value& known(const std::vector<Value>& pool, unsigned bucket) const {
    const std::size_t block = blocks_[bucket >> kBlockBits];
    return pool[(block << kBlockBits) + bucket % kBlockBuckets];
  }
  // visit(bucket, value) for every bucket of the blocks that are there, the shortest first.
  template <typename Value, typename Visit>
  void for_each(const std::vector<Value>& pool, Visit&& visit) const {
    for (unsigned block = 0; block < kBucketBlocks; ++block) {
      if (blocks_[block] == 0) continue;
      for (unsigned i = 0; i < kBlockBuckets; ++i) {
        visit(block * kBlockBuckets + i, pool[(std::size_t{blocks_[block]} << kBlockBits) + i]);
      }
    }
  }

 private:
  std::array<std::uint32_t, kBucketBlocks> blocks_{};  // 0: none
};

}  // namespace shardlens::trace::explore
