// The first pass over all events of a run, kept while they are scanned: per kind and name how many,
// how long, how spread. Statistics of the whole run then need but the second pass, and part of them
// is there before the scan ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "trace/explore/tally/name_tally.h"
#include "trace/store/chunk/event_store.h"

namespace shardlens::trace::explore {

// Kinds that have a table, in the order of StatisticsTable.
inline constexpr std::array kTalliedKinds{model::EventKind::kKernel, model::EventKind::kOperator,
                                          model::EventKind::kCopy, model::EventKind::kLaunch};
// kTalliedKinds.size() for allocations.
std::size_t tally_of(model::EventKind kind);

// Plain values once made.
struct RunTotals {
  std::array<NameTotals, kTalliedKinds.size()> kinds;
  std::size_t chunks = 0;  // that they are of
};

// One thread, but add().
class RunTally {
 public:
  RunTally(const store::EventStore& store, timeline::TimeRange range);

  // Of the ranks that follow: their names as they are known now.
  void learn_names(std::span<const store::ChunkEntry> chunks);
  // Several workers at once, each with its number below store.threads().
  void add(int worker, const store::ChunkEntry& chunk, const store::EventColumns& columns);
  RunTotals totals() const;
  const std::map<int, std::vector<std::uint32_t>>& names() const { return names_; }

 private:
  struct Worker {
    std::array<NameTally, kTalliedKinds.size()> kinds;
    std::size_t chunks = 0;
  };
  const store::EventStore& store_;
  const timeline::TimeRange range_;
  std::map<int, std::vector<std::uint32_t>> names_;  // of ranks, by string id
  std::vector<Worker> workers_;
};

}  // namespace shardlens::trace::explore
