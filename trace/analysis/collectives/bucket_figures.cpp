#include "trace/analysis/collectives/bucket_figures.h"

#include <algorithm>

#include "trace/base/words/quantity.h"
#include "trace/model/acting_settings.h"
#include "trace/model/events.h"

namespace shardlens::trace::analysis {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr int kMostBuckets = 65536;

// One bucket with its texts looked up.
BucketFigures figures_of(const model::Bucket& bucket, const job::Settings* settings,
                         const model::StringTable& strings) {
  BucketFigures result;
  result.index = bucket.index;
  result.bytes = bucket.bytes;
  result.parameter_bytes = bucket.parameter_bytes;
  for (auto name : bucket.parameters) {
    result.parameters.emplace_back(strings.get(bucket.rank, name));
  }
  if (settings != nullptr) {
    result.oversize_reason = oversize_reason(result, bucket_cap_bytes(*settings, bucket.index));
  }
  return result;
}

}  // namespace

double bucket_cap_bytes(const job::Settings& settings, int bucket) {
  const double cap_mb = settings.bucket_cap_mb;
  return (bucket == 0 ? model::first_bucket_mb(settings.first_bucket_mb, cap_mb) : cap_mb) * kMiB;
}

std::string oversize_reason(const BucketFigures& bucket, double cap_bytes) {
  if (static_cast<double>(bucket.bytes) <= 2 * cap_bytes) return {};
  const auto largest =
      std::max_element(bucket.parameter_bytes.begin(), bucket.parameter_bytes.end());
  if (largest == bucket.parameter_bytes.end()) return {};
  if (static_cast<double>(*largest) <= cap_bytes) return {};
  const auto index = static_cast<std::size_t>(largest - bucket.parameter_bytes.begin());
  const auto name = index < bucket.parameters.size() ? bucket.parameters[index] : "a tensor";
  return name + " " + base::bytes_text(*largest) + ": a tensor is never split";
}

int BucketTable::add(const model::Bucket& bucket) {
  if (bucket.index < 0 || bucket.index >= kMostBuckets || bucket.plan < 0 ||
      !model::is_plausible_size(bucket.bytes)) {
    return 1;
  }
  const auto [place, is_new] = buckets_.try_emplace({bucket.plan, bucket.index}, bucket);
  if (!is_new && bucket.rank <= place->second.rank) place->second = bucket;
  return 0;
}

std::vector<BucketFigures> BucketTable::figures(const job::Settings* settings,
                                                const model::StringTable& strings) const {
  std::vector<BucketFigures> result;
  if (buckets_.empty()) return result;
  const int plan = buckets_.rbegin()->first.first;
  for (const auto& [key, bucket] : buckets_) {
    if (key.first == plan) result.push_back(figures_of(bucket, settings, strings));
  }
  return result;
}

}  // namespace shardlens::trace::analysis
