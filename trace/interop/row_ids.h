// Strings and lanes of an imported rank, numbered as they come. One owner.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/interop/event_runs.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

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

}  // namespace shardlens::trace::interop
