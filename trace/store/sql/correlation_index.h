// Finds events by their correlation, so that launches, kernels and operators can be joined without
// a scan per row. Built when it is first asked: every chunk is decoded once, of which only the
// range of its numbers is kept; chunks that are looked into stay decoded, the latest few. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/store/chunk/recently_used.h"
#include "trace/store/sql/event_source.h"

namespace shardlens::trace::store {

class CorrelationIndex {
 public:
  CorrelationIndex(EventSource& source, model::EventKind kind) : source_(source), kind_(kind) {}

  struct Hit {
    const ChunkEntry* place = nullptr;
    model::Event event;
  };
  // Appends the events of a rank with this correlation, which is not 0, in order of recording.
  base::Result<void> find(int rank, std::int64_t correlation, std::vector<Hit>& hits);

 private:
  struct Span {
    const ChunkEntry* place = nullptr;
    std::uint64_t least = UINT64_MAX, most = 0;
  };
  struct OpenChunk {
    std::vector<model::Event> events;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> rows;  // by correlation
  };
  // Some 30 MB. Who asks in order of time finds them open.
  static constexpr std::size_t kMostOpenChunks = 64;

  base::Result<void> build();
  base::Result<const OpenChunk*> open(const ChunkEntry& place);

  EventSource& source_;
  model::EventKind kind_;
  bool is_built_ = false;
  std::map<int, std::vector<Span>> spans_;  // by rank
  RecentlyUsed<const ChunkEntry*, OpenChunk> open_{kMostOpenChunks};
};

}  // namespace shardlens::trace::store
