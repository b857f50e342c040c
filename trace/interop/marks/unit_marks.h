// When forward and backward of a program came to which of its sharded units, and what it gathered
// and reduced for them, from the marks that PyTorch leaves in a trace of its profiler. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"

namespace shardlens::trace::interop {

class UnitMarks {
 public:
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
  static constexpr int kRoot = 0;  // the first unit
  struct Mark {
    base::Interval time;
    int unit = 0;
  };

  void add(Kind kind, const Mark& mark) { of(kind).push_back(mark); }
  // What begins each forward pass; where that is all of it, it is over at its end.
  void add_forward(const base::Interval& time) { forwards_.push_back(time); }
  // Of all units that are marked, once they are added: "root", then the modules as forward enters
  // them first. `are_inferred`: from their order, which sizes have to bear out.
  void finish(std::vector<std::string> unit_names, bool are_inferred);
  // Instead: which is which cannot be told, and a clause that says why.
  void refuse(std::string why);

  // The program shards units, and which is which is known.
  bool has_units() const { return !units_.empty(); }
  const std::vector<std::string>& unit_names() const { return units_; }
  bool are_inferred() const { return are_inferred_; }
  const std::string& why_none() const { return why_none_; }  // "": they are known, or there is none
  const std::vector<base::Interval>& forwards() const { return forwards_; }
  // The begin of the first behind this time; INT64_MAX: there is none.
  std::int64_t next_forward_ns(std::int64_t time_ns) const;

  // When forward left its last unit in `time`, which begins with a forward pass; its begin if it
  // left none.
  std::int64_t forward_end_ns(const base::Interval& time) const;
  // When backward came to the first unit in `time`; its end if it came to none.
  std::int64_t backward_begin_ns(const base::Interval& time) const;
  // When the backward pass in `time` had reduced the units that its nodes had left for its end; the
  // begin of `time` where there were none.
  std::int64_t backward_end_ns(const base::Interval& time) const;

  // The unit whose backward runs at a time of a backward pass: the root, where it is no other's.
  int unit_in_backward(std::int64_t time_ns) const;
  // The unit of a mark that begins exactly at this time (forward or backward come to the unit, or
  // leave it). None: no mark does.
  std::optional<int> unit_from(std::int64_t start_ns) const;

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
  using Marks = std::vector<Mark>;

  static std::int64_t start_of(const Mark& mark) { return mark.time.start_ns; }
  Marks& of(Kind kind) { return marks_[static_cast<std::size_t>(kind)]; }
  const Marks& of(Kind kind) const { return marks_[static_cast<std::size_t>(kind)]; }
  // Null: none of them begins in `time`.
  const Mark* first_in(Kind kind, const base::Interval& time) const;
  // The one around a time. What is marked by one kind never overlaps.
  const Mark* around(Kind kind, std::int64_t time_ns) const;

  std::array<Marks, static_cast<std::size_t>(Kind::kKinds)> marks_;
  std::vector<base::Interval> forwards_;
  std::vector<std::string> units_;
  bool are_inferred_ = false;
  std::string why_none_;
};

}  // namespace shardlens::trace::interop
