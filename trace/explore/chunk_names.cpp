#include "trace/explore/chunk_names.h"

#include <algorithm>

#include "trace/model/saturated.h"

namespace shardlens::trace {

// Several ids may be the same name, or none that is known.
std::shared_ptr<const ChunkNames::Counts> ChunkNames::counted(
    const EventColumns& columns, std::span<const std::uint32_t> numbers, Sums& sums) {
  const auto unknown = static_cast<std::uint32_t>(numbers.size());
  sums.by_id.resize(std::max(sums.by_id.size(), numbers.size() + 1));
  sums.ids.resize(columns.size());
  sums.durations.resize(columns.size());
  columns.names().copy_to(0, std::span(sums.ids));
  columns.durations().copy_to(0, std::span(sums.durations));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint32_t id = std::min(sums.ids[i], unknown);
    NameCount& sum = sums.by_id[id];
    if (sum.count++ == 0) sums.seen.push_back(id);
    const std::int64_t duration = std::max<std::int64_t>(0, sums.durations[i]);
    sum.total_ns = saturated_add(sum.total_ns, duration);
  }
  auto counts = std::make_shared<Counts>();
  counts->reserve(sums.seen.size());
  for (const std::uint32_t id : sums.seen) {
    NameCount& sum = sums.by_id[id];
    counts->push_back({id < unknown ? numbers[id] : 0, sum.count, sum.total_ns});
    sum = {};
  }
  sums.seen.clear();
  return counts;
}

ChunkNames::Found ChunkNames::of(std::span<const ChunkEntry> chunks,
                                 const std::function<bool()>& wanted) {
  Found found;
  found.counts.resize(chunks.size());
  std::vector<ChunkEntry> missing;
  std::vector<std::size_t> places;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const auto known = known_.find(Key{chunks[i].file, chunks[i].row_id});
      if (known != known_.end()) {
        found.counts[i] = known->second;
      } else {
        missing.push_back(chunks[i]);
        places.push_back(i);
      }
    }
  }
  if (missing.empty()) return found;
  Found read_now;
  read_now.counts.resize(missing.size());
  read(missing, wanted, read_now);
  for (std::size_t i = 0; i < places.size(); ++i) found.counts[places[i]] = read_now.counts[i];
  found.finished = read_now.finished;
  return found;
}

void ChunkNames::read(std::span<const ChunkEntry> chunks, const std::function<bool()>& wanted,
                      Found& found) {
  std::map<int, std::vector<std::uint32_t>> numbers;
  for (const ChunkEntry& chunk : chunks) {
    if (!numbers.contains(chunk.rank)) numbers[chunk.rank] = store_.global_names(chunk.rank);
  }
  std::vector<Sums> sums(static_cast<std::size_t>(store_.threads()));
  const auto count = [&](int worker, const ChunkEntry& chunk, const EventColumns& columns) {
    const auto place = static_cast<std::size_t>(&chunk - chunks.data());
    found.counts[place] =
        counted(columns, numbers.at(chunk.rank), sums[static_cast<std::size_t>(worker)]);
  };
  found.finished = store_.visit(chunks, count, wanted).finished;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (found.counts[i]) known_[{chunks[i].file, chunks[i].row_id}] = found.counts[i];
  }
}

std::vector<bool> ids_of_names(const EventStore& store, int rank, const std::vector<bool>& names) {
  const auto numbers = store.global_names(rank);
  std::vector<bool> ids(numbers.size());
  for (std::size_t id = 0; id < ids.size(); ++id) {
    ids[id] = numbers[id] < names.size() && names[numbers[id]];
  }
  return ids;
}

bool holds_any(const ChunkNames::Counts& counts, const std::vector<bool>& names) {
  return std::ranges::any_of(counts, [&](const ChunkNames::NameCount& one) {
    return one.name < names.size() && names[one.name];
  });
}

}  // namespace shardlens::trace
