#include "trace/predict/schedule/bucket_plan.h"

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

}  // namespace shardlens::trace::predict
