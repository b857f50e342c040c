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

std::vector<std::uint32_t>& NameTally::slots_of(int rank, std::size_t ids) {
  const auto found = std::ranges::find(ranks_, rank, &RankSlots::rank);
  auto& by_id = (found != ranks_.end() ? *found : ranks_.emplace_back(RankSlots{rank, {}})).by_id;
  by_id.resize(std::max({by_id.size(), ids, std::size_t{1}}));
  return by_id;
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
  auto& slots = slots_of(chunk.rank, numbers.size());
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

}  // namespace shardlens::trace::explore
