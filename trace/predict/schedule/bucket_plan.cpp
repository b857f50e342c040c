#include "trace/predict/schedule/bucket_plan.h"

#include <algorithm>
#include <utility>

namespace shardlens::trace::predict {

std::vector<std::vector<std::size_t>> plan_buckets(std::span<const std::int64_t> gradient_bytes,
                                                   const BucketCaps& caps) {
  std::vector<std::vector<std::size_t>> plan;
  std::vector<std::size_t> bucket;
  std::int64_t size = 0, cap = caps.first_bytes;
  for (std::size_t i = 0; i < gradient_bytes.size(); ++i) {
    bucket.push_back(i);
    size += gradient_bytes[i];
    if (size < cap) continue;
    plan.push_back(std::exchange(bucket, {}));
    size = 0;
    cap = caps.bytes;
  }
  if (!bucket.empty()) plan.push_back(std::move(bucket));
  return plan;
}

std::optional<FittingCaps> fitting_caps(std::span<const std::int64_t> gradient_bytes,
                                        std::span<const std::size_t> buckets) {
  FittingCaps caps;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] == 0 || buckets[i] > gradient_bytes.size() - begin) return std::nullopt;
    CapRange& cap = i == 0 ? caps.first : caps.others;
    std::int64_t before = 0;  // its size before its last gradient came, at which it stayed open
    for (std::size_t g = begin; g + 1 < begin + buckets[i]; ++g) before += gradient_bytes[g];
    begin += buckets[i];
    cap.above_bytes = std::max(cap.above_bytes, before);
    // The last one is closed by the end, whatever its size.
    const bool is_last = i + 1 == buckets.size();
    if (!is_last) cap.up_to_bytes = std::min(cap.up_to_bytes, before + gradient_bytes[begin - 1]);
  }
  const bool is_whole = begin == gradient_bytes.size();
  if (!is_whole || caps.first.is_empty() || caps.others.is_empty()) return std::nullopt;
  return caps;
}

}  // namespace shardlens::trace::predict
