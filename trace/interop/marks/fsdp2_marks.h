// What PyTorch's fully_shard marks in a trace of its profiler: which unit is gathered, used and
// reduced when (torch/distributed/fsdp/_fully_shard of PyTorch 2.11). One owner.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/json/kineto_event.h"
#include "trace/interop/marks/unit_marks.h"

namespace shardlens::trace::interop {

inline constexpr std::string_view kFsdp2Forward = "FSDP::root_pre_forward";  // its begin

class Fsdp2Marks {
 public:
  // Takes what it looks for.
  void add(const KinetoEvent& event);
  bool has_any() const { return !marks_.empty(); }
  // Once, without those whose times cannot be believed.
  UnitMarks finish(const std::function<bool(const base::Interval&)>& is_believed);

 private:
  struct Mark {
    UnitMarks::Kind kind;
    UnitMarks::Mark mark;  // its unit: by id
  };
  int unit_id(std::string_view name);
  // For each id of a unit its place among the units; −1: nothing is known of it.
  std::vector<int> places() const;

  std::map<std::string, int, std::less<>> ids_;  // by name, as they came
  std::vector<Mark> marks_;
  std::vector<base::Interval> forwards_;
};

}  // namespace shardlens::trace::interop
