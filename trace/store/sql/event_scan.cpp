#include "trace/store/sql/event_scan.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace shardlens::trace::store {

namespace {

bool has_key(const std::vector<EventOrder>& order, EventOrder::Key key) {
  return std::ranges::any_of(order, [&](const EventOrder& term) { return term.key == key; });
}

// The header's times span starts and ends of all events, also of reversed ones.
bool overlaps(const IntegerRange& range, const ChunkHeader& header) {
  return header.last_ns >= range.least && header.first_ns <= range.most;
}

}  // namespace

bool EventFilter::may_hold(const ChunkEntry& place) const {
  if (std::ranges::find(other_ranks, place.rank) != other_ranks.end()) return false;
  return !nothing && rank.holds(place.rank) && lane.holds(place.lane) &&
         overlaps(start_ns, place.header) && overlaps(end_ns, place.header);
}

RankFilter::RankFilter(const EventFilter& filter, const RankNames& names)
    : start_ns_(filter.start_ns), end_ns_(filter.end_ns), by_name_(!filter.names.empty()) {
  if (!filter.step.is_full() && filter.step.least >= 0) {
    std::int64_t first = INT64_MAX, last = INT64_MIN;
    for (const model::Step& step : names.steps) {
      if (!filter.step.holds(step.index)) continue;
      first = std::min(first, step.start_ns);
      last = std::max(last, step.end_ns);
    }
    nothing_ = first > last;
    start_ns_.at_least(first);
    start_ns_.at_most(last);
  }
  if (!by_name_) return;
  bool any = false;
  wanted_.resize(names.strings.size());
  for (std::size_t id = 0; id < wanted_.size(); ++id) {
    wanted_[id] = std::ranges::all_of(filter.names,
                                      [&](const auto& holds) { return holds(names.strings[id]); });
    any = any || wanted_[id];
  }
  nothing_ = nothing_ || !any;
}

bool RankFilter::may_hold(const ChunkEntry& place) const {
  return !nothing_ && overlaps(start_ns_, place.header) && overlaps(end_ns_, place.header);
}

std::int64_t field_of(const model::Event& event, EventField field) {
  switch (field) {
    case EventField::kStart:
      return event.start_ns;
    case EventField::kDuration:
      return event.duration_ns;
    case EventField::kFlags:
      return event.flags;
    case EventField::kCorrelation:
      return static_cast<std::int64_t>(event.correlation);
    case EventField::kValue:
      return event.value;
  }
  return 0;
}

// A counting sort; unknown names count as "".
std::vector<const model::Event*> GroupedEvents::side_by_side(
    const std::vector<model::Event>& events, const RankFilter& filter, std::size_t strings) {
  slots_.resize(std::max(slots_.size(), strings));
  const auto known = [&](const model::Event& event) {
    return event.name < strings ? event.name : 0;
  };
  std::vector<model::StringId> seen;
  std::uint32_t count = 0;
  for (const model::Event& event : events) {
    if (!filter.holds(event)) continue;
    ++count;
    if (slots_[known(event)]++ == 0) seen.push_back(known(event));
  }
  std::uint32_t next = 0;
  for (const model::StringId name : seen) {
    const std::uint32_t begin = next;
    next += slots_[name];
    slots_[name] = begin;
    runs_.push_back({static_cast<std::uint32_t>(chunks_.size()), name, begin, next, 0});
  }
  std::vector<const model::Event*> ordered(count);
  for (const model::Event& event : events) {
    if (filter.holds(event)) ordered[slots_[known(event)]++] = &event;
  }
  for (const model::StringId name : seen) slots_[name] = 0;
  return ordered;
}

void GroupedEvents::add(const ChunkEntry& place, const RankNames& names, const RankFilter& filter,
                        const std::vector<model::Event>& events) {
  const auto ordered = side_by_side(events, filter, names.strings.size());
  if (ordered.empty()) return;
  KeptChunk& chunk = chunks_.emplace_back();
  chunk.place = &place;
  chunk.names = &names;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (!fields_[i]) continue;
    const auto field = static_cast<EventField>(i);
    chunk.columns[i] = PackedColumn(
        ordered.size(), [&](std::size_t row) { return field_of(*ordered[row], field); });
  }
}

// Names of different ranks have different ids, and order goes by their texts.
void GroupedEvents::number_names() {
  std::map<std::string_view, std::uint32_t> positions;
  for (const Run& run : runs_) positions.try_emplace(chunks_[run.chunk].names->text(run.name), 0);
  std::uint32_t next = 0;
  for (auto& [text, position] : positions) position = next++;
  for (Run& run : runs_) {
    run.name_position = positions.at(chunks_[run.chunk].names->text(run.name));
  }
}

void GroupedEvents::arrange(const std::vector<EventOrder>& order) {
  number_names();
  const auto key = [&](const Run& run, EventOrder::Key which) -> std::int64_t {
    const ChunkEntry& at = *chunks_[run.chunk].place;
    if (which == EventOrder::Key::kRank) return at.rank;
    return which == EventOrder::Key::kLane ? at.lane : std::int64_t{run.name_position};
  };
  std::ranges::stable_sort(runs_, [&](const Run& a, const Run& b) {
    for (const EventOrder& term : order) {
      const std::int64_t left = key(a, term.key), right = key(b, term.key);
      if (left != right) return term.descending ? left > right : left < right;
    }
    return false;
  });
  step_to(0);
}

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

base::Result<void> CorrelationIndex::find(const IntegerRange& ranks, std::int64_t correlation,
                                          std::vector<Hit>& hits) {
  TRY(build());
  const auto wanted = static_cast<std::uint64_t>(correlation);
  for (const auto& [rank, spans] : spans_) {
    if (!ranks.holds(rank)) continue;
    for (const Span& span : spans) {
      if (wanted < span.least || wanted > span.most) continue;
      TRY_ASSIGN(const OpenChunk* const chunk, open(*span.place));
      auto row = std::ranges::lower_bound(chunk->rows, std::pair(wanted, std::uint32_t{0}));
      for (; row != chunk->rows.end() && row->first == wanted; ++row) {
        hits.push_back({span.place, chunk->events[row->second]});
      }
    }
  }
  return {};
}

base::Result<void> EventScan::start(EventScanPlan plan) {
  plan_ = std::move(plan);
  grouped_.reset();
  filters_.clear();
  place_ = row_ = 0;
  // Many events have none.
  looks_up_ = plan_.filter.correlation.value_or(0) != 0;
  if (looks_up_) return look_up();
  const bool asks_fields =
      plan_.wants_step || std::ranges::any_of(plan_.fields, [](bool wanted) { return wanted; });
  headers_suffice_ = !asks_fields && !plan_.wants_name && !plan_.filter.looks_at_events();
  TRY(choose_places());
  if (has_key(plan_.order, EventOrder::Key::kName)) return group();
  return enter_chunk();
}

base::Result<void> EventScan::choose_places() {
  places_.clear();
  TRY_ASSIGN(const auto* all, source_->chunks(kind_));
  for (const ChunkEntry& place : *all) {
    if (plan_.filter.may_hold(place)) places_.push_back(&place);
  }
  std::ranges::stable_sort(places_, [&](const ChunkEntry* a, const ChunkEntry* b) {
    for (const EventOrder& term : plan_.order) {
      const bool by_rank = term.key == EventOrder::Key::kRank;
      const int left = by_rank ? a->rank : a->lane, right = by_rank ? b->rank : b->lane;
      if (term.key == EventOrder::Key::kName || left == right) continue;
      return term.descending ? left > right : left < right;
    }
    return false;
  });
  return {};
}

const RankFilter& EventScan::filter_of(const ChunkEntry& place, const RankNames& names) {
  const auto found = filters_.find(place.rank);
  if (found != filters_.end()) return found->second;
  return filters_.emplace(place.rank, RankFilter(plan_.filter, names)).first->second;
}

base::Result<void> EventScan::group() {
  EventFields fields = plan_.fields;
  if (plan_.wants_step) fields[static_cast<std::size_t>(EventField::kStart)] = true;
  grouped_.emplace(fields);
  for (const ChunkEntry* place : places_) {
    TRY_ASSIGN(const RankNames* const names, source_->names(*place));
    const RankFilter& filter = filter_of(*place, *names);
    if (!filter.may_hold(*place)) continue;
    TRY_ASSIGN(const auto events, source_->decode(*place));
    grouped_->add(*place, *names, filter, events);
  }
  grouped_->arrange(plan_.order);
  return {};
}

// From `place_` on, to the first chunk with a row that is wanted.
base::Result<void> EventScan::enter_chunk() {
  for (; place_ < places_.size(); ++place_) {
    const ChunkEntry& at = *places_[place_];
    TRY(source_->check(at));
    TRY_ASSIGN(names_, source_->names(at));
    row_ = 0;
    row_count_ = static_cast<std::size_t>(at.header.count);
    if (!headers_suffice_) {
      filter_ = &filter_of(at, *names_);
      if (!filter_->may_hold(at)) continue;
      events_.clear();
      TRY_ASSIGN(events_, source_->decode(at));
      row_count_ = events_.size();
    }
    while (row_ < row_count_ && !accepts_row()) ++row_;
    if (row_ < row_count_) return {};
  }
  events_ = {};
  return {};
}

base::Result<void> EventScan::look_up() {
  hits_.clear();
  const EventFilter& filter = plan_.filter;
  if (filter.nothing) return {};
  TRY(index_->find(filter.rank, *filter.correlation, hits_));
  return enter_hit();
}

// From `row_` on, to the first event that is wanted.
base::Result<void> EventScan::enter_hit() {
  for (; row_ < hits_.size(); ++row_) {
    const CorrelationIndex::Hit& hit = hits_[row_];
    TRY_ASSIGN(names_, source_->names(*hit.place));
    const RankFilter& filter = filter_of(*hit.place, *names_);
    if (plan_.filter.may_hold(*hit.place) && filter.may_hold(*hit.place) &&
        filter.holds(hit.event)) {
      return {};
    }
  }
  return {};
}

base::Result<void> EventScan::next() {
  if (grouped_) {
    grouped_->next();
    return {};
  }
  if (looks_up_) {
    ++row_;
    return enter_hit();
  }
  do {
    ++row_;
  } while (row_ < row_count_ && !accepts_row());
  if (row_ < row_count_) return {};
  ++place_;
  return enter_chunk();
}

}  // namespace shardlens::trace::store
