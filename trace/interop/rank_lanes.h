// Strings and lanes of an imported rank, numbered as they come, and the events on its lanes: their
// order, and which of them compute. One owner.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

using StringIds = std::unordered_map<std::string, model::StringId>;

class RowIds {
 public:
  model::StringId intern(std::string_view text);
  int lane_of(model::LaneKind kind, const std::string& name);
  // None: no lane is called so.
  std::optional<int> known_lane(model::LaneKind kind, const std::string& name) const;

  const StringIds& strings() const { return strings_; }
  // Adds a row for each; afterwards this object is empty.
  void move_to(model::Batch& rows);

 private:
  StringIds strings_;
  std::map<std::pair<model::LaneKind, std::string>, int> lanes_;
  std::vector<model::InternedString> string_rows_;
  std::vector<model::Lane> lane_rows_;
};

using EventRuns = std::map<std::pair<int, model::EventKind>, std::vector<model::Event>>;

// By start, callers before what they call, with their depth.
void order_runs(EventRuns& runs);

// Of a run without a GPU, once in order: the outermost operators of ATen that call only ATen
// (docs/NUMBERS.md). `strings`: the events' names, numbered from 1. `communicating`: by lane, when
// its thread carried collectives out: what it runs then is a part of them.
void mark_compute(const StringIds& strings, const std::map<int, base::Intervals>& communicating,
                  EventRuns& runs);

}  // namespace shardlens::trace::interop
