// The earliest events of a name, as many as a list shows. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/explore/tally/chunk_names.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/name_hits.h"

namespace shardlens::trace::explore {

class EarliestHits {
 public:
  // Of those that begin before `until_ns`.
  explicit EarliestHits(std::int64_t until_ns) : until_ns_(until_ns) {}

  void offer(const timeline::EventPlace& place);
  // Events of chunks whose name is among `names`; decodes those alone that can hold an early one.
  void look_into(std::span<const store::ChunkEntry> chunks,
                 std::span<const std::shared_ptr<const ChunkNames::Counts>> counts,
                 const std::vector<bool>& names, store::EventStore& store);
  // In order of start; their rows and steps are the caller's to find.
  std::vector<timeline::HitInstance> take();

 private:
  bool can_take(std::int64_t start_ns) const;
  void look_at(const store::ChunkEntry& chunk, const store::EventColumns& columns,
               const std::vector<bool>& wanted_ids);

  const std::int64_t until_ns_;
  std::vector<timeline::EventPlace> heap_;  // the latest on top
};

}  // namespace shardlens::trace::explore
