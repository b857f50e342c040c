#include "trace/explore/tally/chunk_names.h"

#include <algorithm>
#include <utility>

#include "trace/base/saturated.h"

namespace shardlens::trace::explore {

// A chunk's ids are those of its rank: several may stand for one name of the run, or for none.
std::shared_ptr<const ChunkNames::Counts> ChunkNames::counted(
    const store::EventColumns& columns, std::span<const std::uint32_t> numbers,
    std::int64_t until_ns, Sums& sums) {
  const auto unknown = static_cast<std::uint32_t>(numbers.size());
  sums.by_id.resize(std::max(sums.by_id.size(), numbers.size() + 1));
  sums.ids.resize(columns.size());
  sums.durations.resize(columns.size());
  columns.names().copy_to(0, std::span(sums.ids));
  columns.durations().copy_to(0, std::span(sums.durations));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (until_ns != INT64_MAX && columns.start_ns(i) >= until_ns) continue;
    const std::uint32_t id = std::min(sums.ids[i], unknown);
    NameCount& sum = sums.by_id[id];
    if (sum.count++ == 0) sums.seen.push_back(id);
    const std::int64_t duration = std::max<std::int64_t>(0, sums.durations[i]);
    sum.total_ns = base::saturated_add(sum.total_ns, duration);
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

ChunkNames::Found ChunkNames::of(std::span<const store::ChunkEntry> chunks,
                                 const std::function<bool()>& wanted, std::int64_t until_ns) {
  Found found;
  found.counts.resize(chunks.size());
  struct Part {
    std::vector<store::ChunkEntry> chunks;
    std::vector<std::size_t> places;
  } unread, cut;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].header.first_ns >= until_ns) continue;
      const bool is_cut = until_ns != INT64_MAX && chunks[i].header.last_ns >= until_ns;
      const auto known = known_.find(store::key_of(chunks[i]));
      if (!is_cut && known != known_.end()) {
        found.counts[i] = known->second;
        continue;
      }
      Part& part = is_cut ? cut : unread;
      part.chunks.push_back(chunks[i]);
      part.places.push_back(i);
    }
  }
  const auto add = [&](const Part& part, std::int64_t until) {
    if (part.chunks.empty() || !found.finished) return;
    const Found now = read(part.chunks, wanted, until);
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      found.counts[part.places[i]] = now.counts[i];
    }
    found.finished = now.finished;
  };
  add(unread, INT64_MAX);
  add(cut, until_ns);
  return found;
}

ChunkNames::Found ChunkNames::read(std::span<const store::ChunkEntry> chunks,
                                   const std::function<bool()>& wanted, std::int64_t until_ns) {
  Found found;
  found.counts.resize(chunks.size());
  std::map<int, std::vector<std::uint32_t>> numbers;
  for (const store::ChunkEntry& chunk : chunks) {
    if (!numbers.contains(chunk.rank)) numbers[chunk.rank] = store_.names().numbers(chunk.rank);
  }
  std::vector<Sums> sums(static_cast<std::size_t>(store_.threads()));
  const auto count = [&](int worker, const store::ChunkEntry& chunk,
                         const store::EventColumns& columns) {
    const auto place = static_cast<std::size_t>(&chunk - chunks.data());
    found.counts[place] =
        counted(columns, numbers.at(chunk.rank), until_ns, sums[static_cast<std::size_t>(worker)]);
  };
  found.finished = store_.visit(chunks, count, wanted).finished;
  if (until_ns != INT64_MAX) return found;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (found.counts[i]) known_[{chunks[i].file, chunks[i].row_id}] = found.counts[i];
  }
  return found;
}

void ChunkNames::note(const store::ChunkEntry& chunk, const store::EventColumns& columns,
                      std::span<const std::uint32_t> numbers) {
  std::unique_ptr<Sums> sums;
  {
    const std::lock_guard lock(mutex_);
    if (known_.contains({chunk.file, chunk.row_id})) return;
    if (!idle_.empty()) {
      sums = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!sums) sums = std::make_unique<Sums>();
  auto counts = counted(columns, numbers, INT64_MAX, *sums);
  const std::lock_guard lock(mutex_);
  known_[{chunk.file, chunk.row_id}] = std::move(counts);
  idle_.push_back(std::move(sums));
}

std::vector<ChunkNames::OfChunk> ChunkNames::known() const {
  const std::lock_guard lock(mutex_);
  std::vector<OfChunk> chunks;
  chunks.reserve(known_.size());
  for (const auto& [key, counts] : known_) chunks.push_back({key.file, key.row_id, *counts});
  return chunks;
}

void ChunkNames::restore(std::vector<OfChunk> chunks) {
  const std::lock_guard lock(mutex_);
  for (OfChunk& chunk : chunks) {
    known_[{chunk.file, chunk.row_id}] = std::make_shared<const Counts>(std::move(chunk.counts));
  }
}

std::vector<bool> ids_of_names(const store::EventStore& store, int rank,
                               const std::vector<bool>& names) {
  const auto numbers = store.names().numbers(rank);
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

}  // namespace shardlens::trace::explore
