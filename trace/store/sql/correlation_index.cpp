#include "trace/store/sql/correlation_index.h"

#include <algorithm>

namespace shardlens::trace::store {

base::Result<void> CorrelationIndex::build() {
  if (is_built_) return {};
  TRY_ASSIGN(const auto* chunks, source_.chunks(kind_));
  for (const ChunkEntry& place : *chunks) {
    TRY_ASSIGN(const auto events, source_.decode(place));
    Span span{&place};
    for (const model::Event& event : events) {
      if (event.correlation == 0) continue;
      span.least = std::min(span.least, event.correlation);
      span.most = std::max(span.most, event.correlation);
    }
    if (span.least <= span.most) spans_[place.rank].push_back(span);
  }
  is_built_ = true;
  return {};
}

base::Result<const CorrelationIndex::OpenChunk*> CorrelationIndex::open(const ChunkEntry& place) {
  if (const OpenChunk* const kept = open_.use(&place)) return kept;
  OpenChunk chunk;
  TRY_ASSIGN(chunk.events, source_.decode(place));
  for (std::uint32_t row = 0; row < chunk.events.size(); ++row) {
    chunk.rows.emplace_back(chunk.events[row].correlation, row);
  }
  std::ranges::sort(chunk.rows);
  open_.keep(&place, std::move(chunk));
  return open_.use(&place);
}

base::Result<void> CorrelationIndex::find(int rank, std::int64_t correlation,
                                          std::vector<Hit>& hits) {
  TRY(build());
  const auto wanted = static_cast<std::uint64_t>(correlation);
  const auto spans = spans_.find(rank);
  if (spans == spans_.end()) return {};
  for (const Span& span : spans->second) {
    if (wanted < span.least || wanted > span.most) continue;
    TRY_ASSIGN(const OpenChunk* const chunk, open(*span.place));
    auto row = std::ranges::lower_bound(chunk->rows, std::pair(wanted, std::uint32_t{0}));
    for (; row != chunk->rows.end() && row->first == wanted; ++row) {
      hits.push_back({span.place, chunk->events[row->second]});
    }
  }
  return {};
}

}  // namespace shardlens::trace::store
