#include "trace/analysis/collectives/plan_figures.h"

#include <algorithm>

#include "trace/base/words/quantity.h"
#include "trace/model/acting_settings.h"
#include "trace/model/events.h"

namespace shardlens::trace::analysis {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;
// Far beyond any real model; bounds on what nonsense can make us keep.
constexpr int kMostBuckets = 65536;
constexpr std::size_t kMostEntries = 1u << 20;
constexpr std::size_t kMostParameters = 1u << 16;

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

int UnitTable::add(const model::Unit& unit) {
  const bool possible = unit.rank >= 0 && unit.index >= 0 && unit.shard_count >= 1 &&
                        model::is_plausible_size(unit.bytes) &&
                        model::is_plausible_size(unit.shard_bytes) &&
                        model::is_plausible_size(unit.reduced_bytes);
  if (!possible || entries_.size() >= kMostEntries) return 1;
  entries_[{unit.rank, unit.index}].unit = unit;
  return 0;
}

int UnitTable::add(const model::UnitParameter& parameter) {
  const auto entry = entries_.find({parameter.rank, parameter.unit});
  if (entry == entries_.end() || !model::is_plausible_size(parameter.bytes) ||
      entry->second.parameters.size() >= kMostParameters) {
    return 1;
  }
  entry->second.parameters.push_back(parameter);
  return 0;
}

std::vector<UnitFigures> UnitTable::figures(const model::StringTable& strings) const {
  std::vector<UnitFigures> result;
  for (const auto& [key, entry] : entries_) {
    const model::Unit& unit = entry.unit;
    if (unit.rank != entries_.begin()->first.first) break;
    UnitFigures& figures = result.emplace_back();
    figures.index = unit.index;
    figures.name = std::string(strings.get(unit.rank, unit.name));
    figures.bytes = unit.bytes;
    figures.shard_bytes = unit.shard_bytes;
    figures.reduced_bytes = unit.reduced_bytes;
    figures.shard_count = unit.shard_count;
    figures.data_type = std::string(strings.get(unit.rank, unit.data_type));
    for (const model::UnitParameter& parameter : entry.parameters) {
      figures.parameters.emplace_back(strings.get(parameter.rank, parameter.name));
      figures.parameter_bytes.push_back(parameter.bytes);
    }
  }
  return result;
}

}  // namespace shardlens::trace::analysis
