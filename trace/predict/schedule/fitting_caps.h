// Which caps make DDP plan the buckets that a run had. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace shardlens::trace::predict {

struct CapRange {
  std::int64_t above_bytes = 0;
  std::int64_t up_to_bytes = std::numeric_limits<std::int64_t>::max();  // that: any larger one

  bool is_empty() const { return above_bytes >= up_to_bytes; }
  bool has_end() const { return up_to_bytes != std::numeric_limits<std::int64_t>::max(); }
  bool holds(std::int64_t bytes) const { return above_bytes < bytes && bytes <= up_to_bytes; }
  bool operator==(const CapRange&) const = default;
};

struct FittingCaps {
  CapRange first, others;  // of the first bucket, of all others
  bool operator==(const FittingCaps&) const = default;
};

// `buckets`: how many gradients each held, in order of reduction, all of `gradient_bytes` together.
// None: no caps give these buckets.
std::optional<FittingCaps> fitting_caps(std::span<const std::int64_t> gradient_bytes,
                                        std::span<const std::size_t> buckets);

}  // namespace shardlens::trace::predict
