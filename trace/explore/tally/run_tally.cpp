#include "trace/explore/tally/run_tally.h"

#include <algorithm>
#include <utility>

namespace shardlens::trace::explore {

std::size_t tally_of(model::EventKind kind) {
  return static_cast<std::size_t>(std::ranges::find(kTalliedKinds, kind) - kTalliedKinds.begin());
}

RunTally::RunTally(const store::EventStore& store, timeline::TimeRange range)
    : store_(store),
      range_(std::move(range)),
      workers_(static_cast<std::size_t>(store.threads())) {}

void RunTally::learn_names(std::span<const store::ChunkEntry> chunks) {
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (i > 0 && chunks[i].rank == chunks[i - 1].rank) continue;
    names_[chunks[i].rank] = store_.names().numbers(chunks[i].rank);
  }
}

void RunTally::add(int worker, const store::ChunkEntry& chunk, const store::EventColumns& columns) {
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  own.kinds[tally_of(chunk.kind)].add(chunk, columns, range_.of_rank(chunk.rank),
                                      names_.at(chunk.rank));
  ++own.chunks;
}

RunTotals RunTally::totals() const {
  RunTotals totals;
  for (std::size_t kind = 0; kind < kTalliedKinds.size(); ++kind) {
    std::vector<const NameTally*> parts;
    for (const Worker& worker : workers_) parts.push_back(&worker.kinds[kind]);
    totals.kinds[kind] = NameTotals(parts);
  }
  for (const Worker& worker : workers_) totals.chunks += worker.chunks;
  return totals;
}

}  // namespace shardlens::trace::explore
