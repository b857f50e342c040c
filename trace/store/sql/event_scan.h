// The events of one kind that a query asks for, one after the other: chunk by chunk, each freed
// before the next; all together where the query wants them by name; or looked up by their
// correlation. One thread.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "trace/store/sql/correlation_index.h"
#include "trace/store/sql/event_filter.h"
#include "trace/store/sql/event_source.h"
#include "trace/store/sql/grouped_events.h"

namespace shardlens::trace::store {

struct EventScanPlan {
  EventFilter filter;
  std::vector<EventOrder> order;  // empty: as recorded
  EventFields fields{};           // that will be asked for
  bool wants_name = false;
  bool wants_step = false;
};

class EventScan {
 public:
  // `index`: of the same source and kind; it outlives this.
  EventScan(EventSource& source, model::EventKind kind, CorrelationIndex& index)
      : source_(&source), kind_(kind), index_(&index) {}

  base::Result<void> start(EventScanPlan plan);
  bool at_end() const {
    if (grouped_) return grouped_->at_end();
    return looks_up_ ? row_ == hits_.size() : place_ == places_.size();
  }
  base::Result<void> next();

  const ChunkEntry& place() const {
    if (grouped_) return grouped_->place();
    return looks_up_ ? *hits_[row_].place : *places_[place_];
  }
  const RankNames& names() const { return grouped_ ? grouped_->names() : *names_; }
  const std::string& name() const {
    return names().text(grouped_ ? grouped_->name() : event().name);
  }
  std::int64_t value(EventField field) const {
    return grouped_ ? grouped_->value(field) : field_of(event(), field);
  }

 private:
  base::Result<void> choose_places();
  base::Result<const RankFilter*> filter_of(const ChunkEntry& place, const RankNames& names);
  base::Result<void> group();
  base::Result<void> enter_chunk();
  base::Result<void> look_up();
  base::Result<void> enter_hit();
  const model::Event& event() const { return looks_up_ ? hits_[row_].event : events_[row_]; }
  bool accepts_row() const { return headers_suffice_ || filter_->holds(events_[row_]); }

  EventSource* source_;
  model::EventKind kind_;
  CorrelationIndex* index_;
  EventScanPlan plan_;
  bool headers_suffice_ = false;
  std::vector<const ChunkEntry*> places_;
  std::map<int, RankFilter> filters_;  // by rank
  std::size_t place_ = 0, row_ = 0, row_count_ = 0;
  std::vector<model::Event> events_;
  const RankNames* names_ = nullptr;
  const RankFilter* filter_ = nullptr;
  std::optional<GroupedEvents> grouped_;
  bool looks_up_ = false;
  std::vector<CorrelationIndex::Hit> hits_;
};

}  // namespace shardlens::trace::store
