// Finds events by their names: first the names that a pattern means, then how often each occurs,
// and the next or previous occurrence from a time on. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/explore/find/name_matcher.h"
#include "trace/explore/tally/chunk_names.h"
#include "trace/model/events.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/name_hits.h"

namespace shardlens::trace::explore {

// Spans or collectives of one rank, in any order, and what each is called.
struct NamedRows {
  int rank = 0;
  std::span<const model::Span> spans;  // one of these two
  std::span<const model::Collective> collectives;
  std::span<const std::int64_t> row_ids;  // of each
  std::span<const std::uint32_t> labels;  // of each, into `texts`
  std::span<const std::string> texts;

  std::size_t size() const { return spans.empty() ? collectives.size() : spans.size(); }
  timeline::EventPlace place(
      std::size_t i) const;  // its row in the timeline is the caller's to find
};

class NameSearch {
 public:
  // Sums by name and table.
  using HitSums =
      std::map<std::pair<std::string_view, timeline::EventTableKind>, timeline::NameHit>;

  // `store` outlives this.
  explicit NameSearch(store::EventStore& store)
      : NameSearch(store, std::make_shared<ChunkNames>(store)) {}
  // With what is already known of chunks, or is found out by others.
  NameSearch(store::EventStore& store, std::shared_ptr<ChunkNames> names)
      : store_(store), chunk_names_(std::move(names)) {}

  // Kernels, operators, launches, copies and what `rows` holds. A pattern that cannot be read is no
  // error but a NameHits::problem. Milliseconds for chunks that were counted before, else as long
  // as it takes to decode them. Only what begins before `until_ns`. False for `wanted` gives up
  // with kFailed.
  base::Result<timeline::NameHits> find(const timeline::NamePattern& pattern,
                                        std::span<const NamedRows> rows,
                                        const std::function<bool()>& wanted = {},
                                        std::int64_t until_ns = INT64_MAX);
  // The one that begins first after a time (direction 1), or last before it (−1). Decodes no more
  // chunks than it has to look into.
  std::optional<timeline::EventPlace> neighbour_hit(const timeline::NamePattern& pattern,
                                                    int direction, std::int64_t from_ns,
                                                    std::span<const NamedRows> rows,
                                                    const std::function<bool()>& wanted = {});

 private:
  // A pattern and the names of all ranks that it means.
  struct Matched {
    timeline::NamePattern pattern;
    NameMatcher matcher;
    std::vector<bool> names;
  };
  base::Result<std::shared_ptr<const Matched>> match(const timeline::NamePattern& pattern);
  std::vector<store::ChunkEntry> searched_chunks() const;
  void count_events(std::span<const store::ChunkEntry> chunks,
                    std::span<const std::shared_ptr<const ChunkNames::Counts>> counts,
                    const std::vector<bool>& names, HitSums& sums) const;

  store::EventStore& store_;
  const std::shared_ptr<ChunkNames> chunk_names_;
  std::mutex mutex_;
  std::shared_ptr<const Matched> last_;  // the same pattern is asked for again and again
};

}  // namespace shardlens::trace::explore
