// Finds events by their names: first the names that a pattern means, then how often each occurs,
// and the next or previous occurrence from a time on. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "trace/base/result.h"
#include "trace/explore/tally/chunk_names.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/name_hits.h"

namespace shardlens::trace::explore {

struct RunSnapshot;

class NameSearch {
 public:
  // `store` outlives this.
  explicit NameSearch(store::EventStore& store)
      : NameSearch(store, std::make_shared<ChunkNames>(store)) {}
  // With what is already known of chunks, or is found out by others.
  NameSearch(store::EventStore& store, std::shared_ptr<ChunkNames> names)
      : store_(store), chunk_names_(std::move(names)) {}

  // Kernels, operators, launches, copies, and the spans and collectives of `run`; the rows and
  // steps of instances are the caller's to find. A pattern that cannot be read is no error but a
  // NameHits::problem. Milliseconds for chunks that were counted before, else as long as it takes
  // to decode them. Only what begins before `until_ns`. False for `wanted` gives up with kFailed.
  base::Result<timeline::NameHits> find(const timeline::NamePattern& pattern,
                                        const RunSnapshot& run,
                                        const std::function<bool()>& wanted = {},
                                        std::int64_t until_ns = INT64_MAX);
  // The one that begins first after a time (direction 1), or last before it (−1). Decodes no more
  // chunks than it has to look into.
  std::optional<timeline::EventPlace> neighbour_hit(const timeline::NamePattern& pattern,
                                                    int direction, std::int64_t from_ns,
                                                    const RunSnapshot& run,
                                                    const std::function<bool()>& wanted = {});

 private:
  struct Matched;
  base::Result<std::shared_ptr<const Matched>> match(const timeline::NamePattern& pattern);

  store::EventStore& store_;
  const std::shared_ptr<ChunkNames> chunk_names_;
  std::mutex mutex_;
  std::shared_ptr<const Matched> last_;  // the same pattern is asked for again and again
};

}  // namespace shardlens::trace::explore
