#include "trace/explore/tally/name_tally.h"

#include <algorithm>
#include <tuple>

#include "trace/base/saturated.h"

namespace shardlens::trace::explore {

bool LongestEvent::yields_to(const LongestEvent& other) const {
  const auto order = [](const LongestEvent& one) {
    return std::tuple(-one.duration_ns, one.start_ns, one.rank, one.chunk, one.index);
  };
  return order(other) < order(*this);
}

void NameSum::add(const NameSum& other) {
  total_ns = base::saturated_add(total_ns, other.total_ns);
  least_ns = std::min(least_ns, other.least_ns);
  bytes = model::known_sum(bytes, other.bytes);
  if (longest.yields_to(other.longest)) longest = other.longest;
}

std::uint32_t NameTally::new_slot(std::uint32_t name) {
  if (name >= by_name_.size()) by_name_.resize(std::size_t{name} + 1);
  if (by_name_[name] == 0) {
    sums_.emplace_back().name = name;
    by_name_[name] = static_cast<std::uint32_t>(sums_.size());
  }
  return by_name_[name];
}

void NameTally::add(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                    base::Interval range, std::span<const std::uint32_t> numbers) {
  auto& slots = slots_[chunk.rank];
  slots.resize(std::max({slots.size(), numbers.size(), std::size_t{1}}));
  for_each_block(columns, range, block_, [&](const EventBlock& block) {
    add_block(chunk, columns, block, numbers, slots);
  });
}

void NameTally::add_block(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                          const EventBlock& block, std::span<const std::uint32_t> numbers,
                          std::vector<std::uint32_t>& slots) {
  const bool has_bytes = chunk.kind == model::EventKind::kCopy;
  const auto ids = static_cast<std::uint32_t>(numbers.size());
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::uint32_t id = block.names[i] < ids ? block.names[i] : 0;
    std::uint32_t& slot = slots[id];
    if (slot == 0) [[unlikely]]
      slot = new_slot(id == 0 ? 0 : numbers[id]);
    NameSum& sum = sums_[slot - 1];
    const std::int64_t duration = block.durations[i];
    sum.total_ns = base::saturated_add(sum.total_ns, duration);
    sum.least_ns = std::min(sum.least_ns, duration);
    ++sum.buckets.in(counts_, bucket_of(duration));
    if (has_bytes) {
      const std::int64_t bytes = columns.value(block.index(i));  // 0: nobody told
      sum.bytes = model::known_sum(sum.bytes, bytes > 0 ? bytes : model::kNotKnown);
    }
    if (duration < sum.longest.duration_ns) [[likely]]
      continue;
    const std::size_t index = block.index(i);
    const LongestEvent event{duration, columns.start_ns(index), chunk.rank, chunk.row_id,
                             static_cast<std::uint32_t>(index)};
    if (sum.longest.yields_to(event)) sum.longest = event;
  }
}

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
