#include "trace/explore/tally/exact_pass.h"

#include <algorithm>

namespace shardlens::trace::explore {

namespace {

// Counters cost 4 bytes a nanosecond of the bucket's width, durations 8 bytes each.
bool is_counted(const QuantilePlace& place) {
  return bucket_width(place.bucket) / 2 <= place.in_bucket;
}

std::int64_t nth_counted(const std::vector<std::uint32_t>& counts, std::int64_t position) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    before += counts[i];
    if (before >= position) return static_cast<std::int64_t>(i);
  }
  return 0;
}

}  // namespace

ExactPass::ExactPass(const NameTotals& totals, int workers)
    : totals_(totals),
      buckets_(totals.names().size()),
      workers_(static_cast<std::size_t>(workers)) {
  for (std::size_t name = 0; name < buckets_.size(); ++name) prepare(name);
  for (Worker& worker : workers_) {
    worker.bins.resize(buckets_.size());
    worker.collected.resize(buckets_.size());
  }
}

void ExactPass::prepare(std::size_t name) {
  const NameTotal& total = totals_.names()[name];
  totals_.for_each_bucket(name, [&](unsigned bucket) {
    const std::int64_t start = bucket_start(bucket);
    const int first = total.bins.bin_of(start);
    const int last = total.bins.bin_of(start + (bucket_width(bucket) - 1));
    const bool is_wanted = bucket == total.median.bucket || bucket == total.p99.bucket;
    std::uint8_t code = static_cast<std::uint8_t>(first);
    if (last > first + 1) code |= kManyBins;
    if (is_wanted && bucket_width(bucket) > 1) code |= kCollected;
    buckets_[name].in(codes_, bucket) = code;
  });
}

const std::vector<std::uint32_t>& ExactPass::places_of(
    Worker& worker, int rank, std::span<const std::uint32_t> numbers) const {
  const auto [found, is_new] = worker.places.try_emplace(rank);
  if (is_new) {
    found->second.reserve(numbers.size() + 1);
    for (const std::uint32_t number : numbers) {
      found->second.push_back(totals_.place_of(number));
    }
    found->second.push_back(totals_.place_of(0));
  }
  return found->second;
}

void ExactPass::add(int worker, int rank, const store::EventColumns& columns, base::Interval range,
                    std::span<const std::uint32_t> numbers) {
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  const auto& places = places_of(own, rank, numbers);
  for_each_block(columns, range, own.block, [&](const EventBlock&) { add_block(own, places); });
}

void ExactPass::add_block(Worker& worker, const std::vector<std::uint32_t>& places) const {
  const EventBlock& block = worker.block;
  const auto unknown = static_cast<std::uint32_t>(places.size() - 1);
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::size_t name = places[std::min(block.names[i], unknown)];
    const std::int64_t duration = block.durations[i];
    const unsigned bucket = bucket_of(duration);
    const std::uint8_t code = buckets_[name].known(codes_, bucket);
    const DurationBins& bins = totals_.names()[name].bins;
    int bin = code & kBinMask;
    bin += duration >= bins.end_ns(bin) ? 1 : 0;
    if (code & (kManyBins | kCollected)) {
      if (code & kManyBins) bin = bins.bin_of(duration);
      if (code & kCollected) collect(worker, name, bucket, duration);
    }
    ++worker.bins[name][static_cast<std::size_t>(bin)];
  }
}

void ExactPass::collect(Worker& worker, std::size_t name, unsigned bucket,
                        std::int64_t duration_ns) const {
  const NameTotal& total = totals_.names()[name];
  const bool is_median = bucket == total.median.bucket;
  Collected& to = worker.collected[name][is_median ? 0 : 1];
  if (!is_counted(is_median ? total.median : total.p99)) {
    to.durations.push_back(duration_ns);
    return;
  }
  if (to.counts.empty()) to.counts.resize(static_cast<std::size_t>(bucket_width(bucket)));
  ++to.counts[static_cast<std::size_t>(duration_ns - bucket_start(bucket))];
}

std::array<std::uint32_t, timeline::kHistogramBins> ExactPass::bins(std::size_t name) const {
  std::array<std::uint32_t, timeline::kHistogramBins> sum{};
  for (const Worker& worker : workers_) {
    for (std::size_t bin = 0; bin < sum.size(); ++bin) sum[bin] += worker.bins[name][bin];
  }
  return sum;
}

std::int64_t ExactPass::median_ns(std::size_t name) const {
  return quantile_ns(name, totals_.names()[name].median);
}
std::int64_t ExactPass::p99_ns(std::size_t name) const {
  return quantile_ns(name, totals_.names()[name].p99);
}

std::int64_t ExactPass::quantile_ns(std::size_t name, const QuantilePlace& place) const {
  const std::int64_t start = bucket_start(place.bucket);
  if (bucket_width(place.bucket) == 1) return start;
  const bool is_median = place.bucket == totals_.names()[name].median.bucket;
  std::vector<std::uint32_t> counts;
  std::vector<std::int64_t> durations;
  for (const Worker& worker : workers_) {
    const Collected& part = worker.collected[name][is_median ? 0 : 1];
    durations.insert(durations.end(), part.durations.begin(), part.durations.end());
    if (counts.empty()) counts.resize(part.counts.size());
    for (std::size_t i = 0; i < part.counts.size(); ++i) counts[i] += part.counts[i];
  }
  if (!counts.empty()) return start + nth_counted(counts, place.position);
  // Fewer than in the first pass: a file changed in between.
  if (durations.empty()) return start;
  const auto last = static_cast<std::int64_t>(durations.size()) - 1;
  const auto nth = durations.begin() + std::min(place.position - 1, last);
  std::ranges::nth_element(durations, nth);
  return *nth;
}

}  // namespace shardlens::trace::explore
