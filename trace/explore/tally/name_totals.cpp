#include "trace/explore/tally/name_totals.h"

namespace shardlens::trace::explore {

NameTotals::NameTotals(std::span<const NameTally* const> tallies) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  for (const NameTally* tally : tallies) {
    for (const NameSum& sum : tally->sums()) {
      if (sum.name >= by_name_.size()) by_name_.resize(std::size_t{sum.name} + 1, kNone);
      std::uint32_t& place = by_name_[sum.name];
      if (place == kNone) {
        place = static_cast<std::uint32_t>(names_.size());
        names_.emplace_back().sum.name = sum.name;
      }
      NameTotal& total = names_[place];
      total.sum.add(sum);
      sum.buckets.for_each(tally->counts(), [&](unsigned bucket, std::uint32_t count) {
        if (count > 0) total.sum.buckets.in(counts_, bucket) += count;
      });
    }
  }
  for (std::uint32_t& place : by_name_) place = place == kNone ? 0 : place;
  for (NameTotal& total : names_) complete(total);
}

void NameTotals::complete(NameTotal& total) {
  const auto& buckets = total.sum.buckets;
  buckets.for_each(counts_, [&](unsigned, std::uint32_t count) { total.count += count; });
  const auto place = [&](std::int64_t rank) {
    QuantilePlace found;
    std::int64_t before = 0;
    buckets.for_each(counts_, [&](unsigned bucket, std::uint32_t count) {
      if (before < rank && rank <= before + count) found = {bucket, rank - before, count};
      before += count;
    });
    return found;
  };
  total.median = place(nearest_rank(total.count, 50));
  total.p99 = place(nearest_rank(total.count, 99));
  total.bins = DurationBins(total.sum.least_ns, total.sum.longest.duration_ns);
}

}  // namespace shardlens::trace::explore
