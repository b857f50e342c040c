// Events of many chunks in an order that begins with rank, lane or name, as GROUP BY wants them:
// each chunk is decoded once and kept as the columns that are asked for, its events side by side
// by name. Memory grows with the events, 0 to 40 bytes each. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/store/chunk/packed_column.h"
#include "trace/store/sql/event_filter.h"
#include "trace/store/sql/event_source.h"

namespace shardlens::trace::store {

// The numbers of an event, beside its name.
enum class EventField : std::uint8_t { kStart, kDuration, kFlags, kCorrelation, kValue };
inline constexpr int kEventFieldCount = 5;
using EventFields = std::array<bool, kEventFieldCount>;

std::int64_t field_of(const model::Event& event, EventField field);

struct EventOrder {
  enum class Key : std::uint8_t { kRank, kLane, kName } key = Key::kName;
  bool descending = false;
};

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

}  // namespace shardlens::trace::store
