// What PyTorch's fully_shard marks in a trace of its profiler: which unit is gathered, used and
// reduced when (torch/distributed/fsdp/_fully_shard of PyTorch 2.11). One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/json/kineto_event.h"

namespace shardlens::trace::interop {

inline constexpr std::string_view kFsdpForward = "FSDP::root_pre_forward";  // its begin

class FsdpMarks {
 public:
  // Takes what it looks for.
  void add(const KinetoEvent& event);
  // Afterwards, once: leaves out those whose times cannot be believed.
  void finish(const std::function<bool(const base::Interval&)>& is_believed);

  // The program shards units.
  bool has_units() const { return !units_.empty(); }
  // "root", then the modules as forward enters them first.
  const std::vector<std::string>& unit_names() const { return units_; }

  // When forward left its last unit in `time`, which begins with root_pre_forward; its begin if it
  // left none.
  std::int64_t forward_end_ns(const base::Interval& time) const;
  // When backward came to the first unit in `time`; its end if it came to none.
  std::int64_t backward_begin_ns(const base::Interval& time) const;
  // When backward had reduced what its nodes left to the end, of one that lies in `time`; the
  // interval's begin: nothing.
  std::int64_t backward_end_ns(const base::Interval& time) const;

  // Whose backward it is at a time in a backward pass: the root's where no other's is.
  int unit_in_backward(std::int64_t time_ns) const;

  // What a collective was asked for.
  struct Use {
    enum class What : std::uint8_t { kForwardGather, kBackwardGather, kReduce };
    What what = What::kReduce;
    int unit = 0;
    bool is_ahead = false;      // before it was needed
    std::int64_t ready_ns = 0;  // of a reduction: when the unit's last gradient was there
    std::string text(std::string_view unit_name) const;  // "layers.3 forward gather, prefetched"
  };
  // None: not for a unit. `backwards`: those of the trace, in order.
  std::optional<Use> use_at(std::int64_t asked_ns, std::span<const base::Interval> backwards) const;

 private:
  enum class Kind : std::uint8_t {
    kGather,
    kReduce,
    kForward,         // enters a unit
    kForwardEnd,      // leaves it
    kBackward,        // enters it
    kGradientsReady,  // all of a unit's
    kForwardPrefetch,
    kBackwardPrefetch,
    kBackwardEnd,
    kKinds
  };
  struct KindName {
    std::string_view name;
    Kind kind;
  };
  struct Mark {
    base::Interval time;
    int unit = 0;
  };
  static const KindName* kind_of(std::string_view name);
  using Marks = std::vector<Mark>;

  static std::int64_t start_of(const Mark& mark) { return mark.time.start_ns; }
  int unit_id(std::string_view name);
  const Marks& of(Kind kind) const { return marks_[static_cast<std::size_t>(kind)]; }
  // Null: none of them begins in `time`.
  const Mark* first_in(Kind kind, const base::Interval& time) const;
  // The one around a time. What is marked by one kind never overlaps.
  const Mark* around(Kind kind, std::int64_t time_ns) const;

  std::map<std::string, int, std::less<>> ids_;  // by name, as they came
  std::vector<Marks> marks_ = std::vector<Marks>(static_cast<std::size_t>(Kind::kKinds));
  std::vector<std::string> units_;
};

}  // namespace shardlens::trace::interop
