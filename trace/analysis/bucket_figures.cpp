#include "trace/analysis/bucket_figures.h"

#include <algorithm>

#include "trace/analysis/labels.h"

namespace shardlens::trace {

namespace {
constexpr double kMiB = 1024.0 * 1024.0;
}

double bucket_cap_bytes(const Settings& settings, int bucket) {
  if (bucket != 0) return settings.bucket_cap_mb * kMiB;
  if (settings.first_bucket_mb >= 0) return settings.first_bucket_mb * kMiB;
  return (settings.bucket_cap_mb == Settings{}.bucket_cap_mb ? 1.0 : settings.bucket_cap_mb) * kMiB;
}

std::string oversize_reason(const BucketFigures& bucket, double cap_bytes) {
  if (static_cast<double>(bucket.bytes) <= 2 * cap_bytes) return {};
  const auto largest =
      std::max_element(bucket.parameter_bytes.begin(), bucket.parameter_bytes.end());
  if (largest == bucket.parameter_bytes.end()) return {};
  if (static_cast<double>(*largest) <= cap_bytes) return {};
  const auto index = static_cast<std::size_t>(largest - bucket.parameter_bytes.begin());
  const auto name = index < bucket.parameters.size() ? bucket.parameters[index] : "a tensor";
  return name + " " + bytes_text(*largest) + ": a tensor is never split";
}

BucketFigures bucket_figures(const Bucket& bucket, const Settings& settings,
                             const StringTable& strings) {
  BucketFigures result;
  result.index = bucket.index;
  result.bytes = bucket.bytes;
  result.parameter_bytes = bucket.parameter_bytes;
  for (auto name : bucket.parameters) {
    result.parameters.emplace_back(strings.get(bucket.rank, name));
  }
  result.oversize_reason = oversize_reason(result, bucket_cap_bytes(settings, bucket.index));
  return result;
}

}  // namespace shardlens::trace
