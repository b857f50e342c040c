#include "trace/explore/find/name_search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "trace/base/saturated.h"
#include "trace/explore/find/earliest_hits.h"
#include "trace/explore/find/neighbour_search.h"
#include "trace/explore/run/lane_events.h"

namespace shardlens::trace::explore {

namespace {

using HitSums = NameSearch::HitSums;

// A collective's label tells what it was for, "bucket 3". Who searches asks for its function, too,
// however that is written: all_reduce, all-reduce, AllReduce, as in NCCL's kernels.
bool means_function(const NameMatcher& matcher, model::CollectiveFunction function) {
  if (matcher.is_plain()) return false;
  const std::string own(model::to_string(function));
  std::string hyphens = own, camel;
  std::ranges::replace(hyphens, '_', '-');
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] == '_') continue;
    const bool begins_word = i == 0 || own[i - 1] == '_';
    camel += begins_word ? static_cast<char>(std::toupper(own[i])) : own[i];
  }
  return matcher.matches(own) || matcher.matches(hyphens) || matcher.matches(camel);
}

class MatchedRows {
 public:
  MatchedRows(const NamedRows& rows, const NameMatcher& matcher)
      : rows_(rows), labels_(rows.texts.size()) {
    for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = matcher.matches(rows.texts[i]);
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      functions_[i] = means_function(matcher, static_cast<model::CollectiveFunction>(i));
    }
  }
  bool has(std::size_t i) const {
    if (labels_[rows_.labels[i]]) return true;
    return rows_.spans.empty() &&
           functions_[static_cast<std::size_t>(rows_.collectives[i].function)];
  }

 private:
  const NamedRows& rows_;
  std::vector<bool> labels_;
  std::array<bool, static_cast<std::size_t>(model::CollectiveFunction::kOther) + 1> functions_{};
};

void add_hit(HitSums& sums, std::string_view name, timeline::EventTableKind table,
             std::int64_t count, std::int64_t total_ns) {
  timeline::NameHit& hit = sums[{name, table}];
  hit.count += count;
  hit.total_ns = base::saturated_add(hit.total_ns, total_ns);
}

void count_rows(std::span<const NamedRows> all, const NameMatcher& matcher, std::int64_t until_ns,
                HitSums& sums) {
  for (const NamedRows& rows : all) {
    const MatchedRows matched(rows, matcher);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!matched.has(i)) continue;
      const timeline::EventPlace place = rows.place(i);
      if (place.start_ns >= until_ns) continue;
      const std::int64_t duration = base::saturated_difference(place.end_ns, place.start_ns);
      add_hit(sums, rows.texts[rows.labels[i]], place.ref.table, 1,
              std::max<std::int64_t>(0, duration));
    }
  }
}

// Calls offer(place) of what has such a name, for a search of either kind.
template <typename Places>
void offer_rows(std::span<const NamedRows> all, const NameMatcher& matcher, Places& places) {
  for (const NamedRows& rows : all) {
    const MatchedRows matched(rows, matcher);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (matched.has(i)) places.offer(rows.place(i));
    }
  }
}

timeline::NameHits hits_of(const timeline::NamePattern& pattern, HitSums sums) {
  timeline::NameHits hits;
  hits.pattern = pattern;
  hits.is_complete = true;  // of what it was given
  for (auto& [key, hit] : sums) {
    hits.count += hit.count;
    hits.names.push_back({std::string(key.first), key.second, hit.count, hit.total_ns});
  }
  std::ranges::stable_sort(hits.names, std::ranges::greater(), &timeline::NameHit::count);
  return hits;
}

}  // namespace

timeline::EventPlace NamedRows::place(std::size_t i) const {
  timeline::EventPlace place;
  const bool is_span = !spans.empty();
  place.ref = {is_span ? timeline::EventTableKind::kSpan : timeline::EventTableKind::kCollective,
               rank, row_ids[i], 0};
  place.start_ns = is_span ? spans[i].start_ns : collectives[i].start_ns;
  place.end_ns = is_span ? spans[i].end_ns : collectives[i].end_ns;
  return place;
}

base::Result<std::shared_ptr<const NameSearch::Matched>> NameSearch::match(
    const timeline::NamePattern& pattern) {
  const std::uint32_t count = store_.names().count();
  {
    const std::lock_guard lock(mutex_);
    if (last_ && last_->pattern == pattern && last_->names.size() == count) return last_;
  }
  TRY_ASSIGN(NameMatcher matcher, NameMatcher::compile(pattern));
  auto matched =
      std::make_shared<Matched>(Matched{pattern, std::move(matcher), std::vector<bool>(count)});
  for (std::uint32_t name = 0; name < count; ++name) {
    matched->names[name] = matched->matcher.matches(store_.names().text(name));
  }
  const std::lock_guard lock(mutex_);
  last_ = matched;
  return std::shared_ptr<const Matched>(std::move(matched));
}

// No row of the timeline shows single allocations.
std::vector<store::ChunkEntry> NameSearch::searched_chunks() const {
  const auto all = store_.chunks();
  std::vector<store::ChunkEntry> chunks;
  chunks.reserve(all->size());
  std::ranges::copy_if(*all, std::back_inserter(chunks), [](const store::ChunkEntry& chunk) {
    return chunk.kind != model::EventKind::kAllocation;
  });
  return chunks;
}

// By number first: comparing texts for every chunk would take longer than all the rest.
void NameSearch::count_events(std::span<const store::ChunkEntry> chunks,
                              std::span<const std::shared_ptr<const ChunkNames::Counts>> counts,
                              const std::vector<bool>& names, HitSums& sums) const {
  struct Sum {
    std::int64_t count = 0, total_ns = 0;
  };
  std::vector<std::array<Sum, model::kEventKindCount>> by_number(names.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!counts[i]) continue;
    for (const auto& one : *counts[i]) {
      if (one.name >= names.size() || !names[one.name]) continue;
      Sum& sum = by_number[one.name][static_cast<std::size_t>(chunks[i].kind)];
      sum.count += one.count;
      sum.total_ns = base::saturated_add(sum.total_ns, one.total_ns);
    }
  }
  for (std::uint32_t name = 0; name < names.size(); ++name) {
    for (int kind = 0; kind < model::kEventKindCount; ++kind) {
      const Sum& sum = by_number[name][static_cast<std::size_t>(kind)];
      if (sum.count == 0) continue;
      add_hit(sums, store_.names().text(name), table_of(static_cast<model::EventKind>(kind)),
              sum.count, sum.total_ns);
    }
  }
}

base::Result<timeline::NameHits> NameSearch::find(const timeline::NamePattern& pattern,
                                                  std::span<const NamedRows> rows,
                                                  const std::function<bool()>& wanted,
                                                  std::int64_t until_ns) {
  const auto matched = match(pattern);
  if (!matched) {
    timeline::NameHits none;
    none.pattern = pattern;
    none.is_complete = true;
    none.problem = matched.error().message;
    return none;
  }
  const auto& names = (*matched)->names;
  HitSums sums;
  EarliestHits earliest(until_ns);
  count_rows(rows, (*matched)->matcher, until_ns, sums);
  if (pattern.is_plain) offer_rows(rows, (*matched)->matcher, earliest);
  if (std::ranges::find(names, true) != names.end()) {
    const auto chunks = searched_chunks();
    const auto found = chunk_names_->of(chunks, wanted, until_ns);
    if (!found.finished)
      return base::fail(base::ErrorKind::kFailed, "the search is no longer wanted");
    count_events(chunks, found.counts, names, sums);
    if (pattern.is_plain) earliest.look_into(chunks, found.counts, names, store_);
  }
  timeline::NameHits hits = hits_of(pattern, std::move(sums));
  hits.instances = earliest.take();
  return hits;
}

std::optional<timeline::EventPlace> NameSearch::neighbour_hit(const timeline::NamePattern& pattern,
                                                              int direction, std::int64_t from_ns,
                                                              std::span<const NamedRows> rows,
                                                              const std::function<bool()>& wanted) {
  const auto matched = match(pattern);
  if (!matched) return std::nullopt;
  NeighbourSearch search(direction, from_ns);
  offer_rows(rows, (*matched)->matcher, search);
  const auto& names = (*matched)->names;
  if (std::ranges::find(names, true) != names.end()) {
    search.look_into(searched_chunks(), names, store_, *chunk_names_, wanted);
  }
  return search.best();
}

}  // namespace shardlens::trace::explore
