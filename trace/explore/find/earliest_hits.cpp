#include "trace/explore/find/earliest_hits.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "trace/explore/run/lane_events.h"

namespace shardlens::trace::explore {

namespace {

constexpr std::size_t kMostInstances = 500;

bool is_earlier(const timeline::EventPlace& a, const timeline::EventPlace& b) {
  const auto order = [](const timeline::EventPlace& place) {
    return std::tuple(place.start_ns, place.ref.rank, place.ref.table, place.ref.row,
                      place.ref.index);
  };
  return order(a) < order(b);
}

}  // namespace

bool EarliestHits::can_take(std::int64_t start_ns) const {
  if (start_ns >= until_ns_) return false;
  return heap_.size() < kMostInstances || start_ns <= heap_.front().start_ns;
}

void EarliestHits::offer(const timeline::EventPlace& place) {
  if (!can_take(place.start_ns)) return;
  if (heap_.size() == kMostInstances) {
    if (!is_earlier(place, heap_.front())) return;
    std::ranges::pop_heap(heap_, is_earlier);
    heap_.pop_back();
  }
  heap_.push_back(place);
  std::ranges::push_heap(heap_, is_earlier);
}

void EarliestHits::look_at(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                           const std::vector<bool>& wanted_ids) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const model::StringId id = columns.name(i);
    if (id >= wanted_ids.size() || !wanted_ids[id] || !can_take(columns.start_ns(i))) continue;
    offer({{table_of(chunk.kind), chunk.rank, chunk.row_id, static_cast<std::uint32_t>(i)},
           columns.start_ns(i),
           columns.end_ns(i),
           -1});
  }
}

void EarliestHits::look_into(std::span<const store::ChunkEntry> chunks,
                             std::span<const std::shared_ptr<const ChunkNames::Counts>> counts,
                             const std::vector<bool>& names, store::EventStore& store) {
  std::vector<std::size_t> order(chunks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return !counts[i] || !holds_any(*counts[i], names); });
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return chunks[i].header.first_ns; });
  std::map<int, std::vector<bool>> ids;  // by rank
  for (const std::size_t i : order) {
    if (!can_take(chunks[i].header.first_ns)) return;
    const auto columns = store.load(chunks[i]);
    if (!columns) continue;
    const auto [rank, is_new] = ids.try_emplace(chunks[i].rank);
    if (is_new) rank->second = ids_of_names(store, chunks[i].rank, names);
    look_at(chunks[i], **columns, rank->second);
  }
}

std::vector<timeline::HitInstance> EarliestHits::take() {
  std::ranges::sort(heap_, is_earlier);
  std::vector<timeline::HitInstance> instances;
  instances.reserve(heap_.size());
  for (const timeline::EventPlace& place : heap_) instances.push_back({place, -1});
  heap_.clear();
  return instances;
}

}  // namespace shardlens::trace::explore
