// The events of one kind that a query asks for, one after the other: chunk by chunk, each freed
// before the next, or all together where the query wants them by name. One thread.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "trace/store/event_filter.h"
#include "trace/store/event_source.h"
#include "trace/store/grouped_events.h"

namespace shardlens::trace {

struct EventScanPlan {
  EventFilter filter;
  std::vector<EventOrder> order;  // empty: as recorded
  EventFields fields{};           // that will be asked for
  bool wants_name = false;
  bool wants_step = false;
};

class EventScan {
 public:
  EventScan(EventSource& source, EventKind kind) : source_(&source), kind_(kind) {}

  Result<void> start(EventScanPlan plan);
  bool at_end() const { return grouped_ ? grouped_->at_end() : place_ == places_.size(); }
  Result<void> next();

  const ChunkPlace& place() const { return grouped_ ? grouped_->place() : *places_[place_]; }
  const RankNames& names() const { return grouped_ ? grouped_->names() : *names_; }
  const std::string& name() const {
    return names().text(grouped_ ? grouped_->name() : events_[row_].name);
  }
  std::int64_t value(EventField field) const {
    return grouped_ ? grouped_->value(field) : field_of(events_[row_], field);
  }

 private:
  Result<void> choose_places();
  Result<const RankFilter*> filter_of(const ChunkPlace& place, const RankNames& names);
  Result<void> group();
  Result<void> enter_chunk();
  bool accepts_row() const { return headers_suffice_ || filter_->holds(events_[row_]); }

  EventSource* source_;
  EventKind kind_;
  EventScanPlan plan_;
  bool headers_suffice_ = false;
  std::vector<const ChunkPlace*> places_;
  std::map<int, RankFilter> filters_;  // by rank
  std::size_t place_ = 0, row_ = 0, row_count_ = 0;
  std::vector<Event> events_;
  const RankNames* names_ = nullptr;
  const RankFilter* filter_ = nullptr;
  std::optional<GroupedEvents> grouped_;
};

}  // namespace shardlens::trace
