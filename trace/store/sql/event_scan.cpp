#include "trace/store/sql/event_scan.h"

#include <algorithm>

namespace shardlens::trace::store {

namespace {

bool has_key(const std::vector<EventOrder>& order, EventOrder::Key key) {
  return std::ranges::any_of(order, [&](const EventOrder& term) { return term.key == key; });
}

}  // namespace

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

base::Result<const RankFilter*> EventScan::filter_of(const ChunkEntry& place,
                                                     const RankNames& names) {
  const auto found = filters_.find(place.rank);
  if (found != filters_.end()) return &found->second;
  return &filters_.emplace(place.rank, RankFilter(plan_.filter, names)).first->second;
}

base::Result<void> EventScan::group() {
  EventFields fields = plan_.fields;
  if (plan_.wants_step) fields[static_cast<std::size_t>(EventField::kStart)] = true;
  grouped_.emplace(fields);
  for (const ChunkEntry* place : places_) {
    TRY_ASSIGN(const RankNames* const names, source_->names(*place));
    TRY_ASSIGN(const RankFilter* const filter, filter_of(*place, *names));
    if (!filter->may_hold(*place)) continue;
    TRY_ASSIGN(const auto events, source_->decode(*place));
    grouped_->add(*place, *names, *filter, events);
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
      TRY_ASSIGN(filter_, filter_of(at, *names_));
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
  TRY_ASSIGN(const auto* ranks, source_->ranks(kind_));
  for (const int rank : *ranks) {
    if (filter.rank.holds(rank)) TRY(index_->find(rank, *filter.correlation, hits_));
  }
  return enter_hit();
}

// From `row_` on, to the first event that is wanted.
base::Result<void> EventScan::enter_hit() {
  for (; row_ < hits_.size(); ++row_) {
    const CorrelationIndex::Hit& hit = hits_[row_];
    TRY_ASSIGN(names_, source_->names(*hit.place));
    TRY_ASSIGN(const RankFilter* const filter, filter_of(*hit.place, *names_));
    if (plan_.filter.may_hold(*hit.place) && filter->may_hold(*hit.place) &&
        filter->holds(hit.event)) {
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
