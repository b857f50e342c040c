// The events of one kind that a query asks for, one after the other. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/store/chunk/packed_column.h"
#include "trace/store/chunk/recently_used.h"
#include "trace/store/sql/event_source.h"

namespace shardlens::trace::store {

// Closed; full by default.
struct IntegerRange {
  std::int64_t least = INT64_MIN, most = INT64_MAX;
  bool holds(std::int64_t value) const { return value >= least && value <= most; }
  bool is_full() const { return least == INT64_MIN && most == INT64_MAX; }
  void at_least(std::int64_t value) { least = std::max(least, value); }
  void at_most(std::int64_t value) { most = std::min(most, value); }
};

// What a query asks of bulk events, as far as it can be decided before a row is made: chunks that
// cannot hold an answer are never decoded.
struct EventFilter {
  bool nothing = false;  // a comparison with NULL
  IntegerRange rank, lane, start_ns, end_ns, step;
  std::vector<std::int64_t> other_ranks;    // than these
  std::optional<std::int64_t> correlation;  // exactly this
  // All must hold for an event's name; each is asked once per string and rank, not per event.
  std::vector<std::function<bool(const std::string&)>> names;

  // By its header alone.
  bool may_hold(const ChunkEntry& place) const;
  bool looks_at_events() const {
    return !start_ns.is_full() || !end_ns.is_full() || !names.empty() || !step.is_full();
  }
};

// A filter with what it means for one rank: which names, which times.
class RankFilter {
 public:
  RankFilter() = default;
  RankFilter(const EventFilter& filter, const RankNames& names);

  bool may_hold(const ChunkEntry& place) const;
  bool holds(const model::Event& event) const {
    return start_ns_.holds(event.start_ns) && end_ns_.holds(event.end_ns()) &&
           (!by_name_ || (event.name < wanted_.size() && wanted_[event.name]));
  }

 private:
  IntegerRange start_ns_, end_ns_;
  bool by_name_ = false;
  bool nothing_ = false;
  std::vector<bool> wanted_;  // by id
};

// The numbers of an event, beside its name.
enum class EventField : std::uint8_t { kStart, kDuration, kFlags, kCorrelation, kValue };
inline constexpr int kEventFieldCount = 5;
using EventFields = std::array<bool, kEventFieldCount>;

std::int64_t field_of(const model::Event& event, EventField field);

struct EventOrder {
  enum class Key : std::uint8_t { kRank, kLane, kName } key = Key::kName;
  bool descending = false;
};

// Events of many chunks in an order that begins with rank, lane or name, as GROUP BY wants them:
// each chunk is decoded once and kept as the columns that are asked for, its events side by side
// by name. Memory grows with the events, 0 to 40 bytes each.
class GroupedEvents {
 public:
  explicit GroupedEvents(EventFields fields) : fields_(fields) {}

  // Those of `events` that `filter` holds for.
  void add(const ChunkEntry& place, const RankNames& names, const RankFilter& filter,
           const std::vector<model::Event>& events);
  void arrange(const std::vector<EventOrder>& order);

  // One event after the other, once arranged.
  bool at_end() const { return run_ == runs_.size(); }
  void next() {
    if (++row_ == runs_[run_].end) step_to(run_ + 1);
  }
  const ChunkEntry& place() const { return *chunks_[runs_[run_].chunk].place; }
  const RankNames& names() const { return *chunks_[runs_[run_].chunk].names; }
  model::StringId name() const { return runs_[run_].name; }
  std::int64_t value(EventField field) const {
    return chunks_[runs_[run_].chunk].columns[static_cast<std::size_t>(field)].at(row_);
  }

 private:
  struct KeptChunk {
    const ChunkEntry* place = nullptr;
    const RankNames* names = nullptr;
    std::array<PackedColumn, kEventFieldCount> columns;
  };
  // Events of one chunk with one name.
  struct Run {
    std::uint32_t chunk = 0;
    model::StringId name = 0;
    std::uint32_t begin = 0, end = 0;
    std::uint32_t name_position = 0;  // of its text among all, sorted
  };

  void step_to(std::size_t run) {
    run_ = run;
    if (!at_end()) row_ = runs_[run_].begin;
  }
  std::vector<const model::Event*> side_by_side(const std::vector<model::Event>& events,
                                                const RankFilter& filter, std::size_t strings);
  void number_names();

  EventFields fields_;
  std::vector<KeptChunk> chunks_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> slots_;  // by name; all 0 between chunks
  std::size_t run_ = 0;
  std::uint32_t row_ = 0;
};

// Finds events by their correlation, so that launches, kernels and operators can be joined without
// a scan per row. Built when it is first asked: every chunk is decoded once, of which only the
// range of its numbers is kept; chunks that are looked into stay decoded, the latest few.
class CorrelationIndex {
 public:
  CorrelationIndex(EventSource& source, model::EventKind kind) : source_(source), kind_(kind) {}

  struct Hit {
    const ChunkEntry* place = nullptr;
    model::Event event;
  };
  // Appends the events of these ranks with this correlation, which is not 0, in order of recording.
  base::Result<void> find(const IntegerRange& ranks, std::int64_t correlation,
                          std::vector<Hit>& hits);

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

struct EventScanPlan {
  EventFilter filter;
  std::vector<EventOrder> order;  // empty: as recorded
  EventFields fields{};           // that will be asked for
  bool wants_name = false;
  bool wants_step = false;
};

// Chunk by chunk, each freed before the next; all together where the query wants them by name; or
// looked up by their correlation.
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
  const RankFilter& filter_of(const ChunkEntry& place, const RankNames& names);
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
