// What a rank tells of the units that it shards: when they were gathered, used and reduced, and how
// its program goes about it. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/model/events.h"
#include "trace/predict/record/step_work.h"

namespace shardlens::trace::predict {

// A gather or reduction of a unit, as a rank asked for it.
struct UnitCall {
  enum class What : std::uint8_t { kForwardGather, kBackwardGather, kReduce };
  What what = What::kReduce;
  int unit = 0;
  bool is_ahead = false;  // before it was needed
  std::int64_t enqueued_ns = 0, end_ns = 0;
  std::int64_t start_ns = 0;
  bool is_across_groups = false;  // of a reduction: adds up what groups of ranks have
};

// The host comes to a unit in forward or in backward, or has all of its gradients, as programs of
// PyTorch mark it.
struct UnitMark {
  enum class What : std::uint8_t { kForward, kBackward, kGradients };
  What what = What::kForward;
  int unit = 0;
  std::int64_t time_ns = 0;
};

// Within it a host does what a gather or reduction takes beside its collective, as fully_shard
// marks it.
struct UnitWorkMark {
  UnitWork::What what = UnitWork::What::kReduce;
  int unit = 0;
  base::Interval time{};
};

// `tag`: "blocks.3 forward gather, prefetched". None: no collective of a unit.
std::optional<UnitCall> unit_call(const model::Collective& call, std::string_view tag);
// Of a span, without its time: "FSDP::pre_forward (layers.3)", as fully_shard marks it, or an
// import what FullyShardedDataParallel does (PyTorch 2.11). None: it marks nothing of `units`.
std::optional<UnitMark> unit_mark(std::string_view text, const std::vector<std::string>& units);
// Likewise: "FSDP::all_gather_copy_out (layers.3)", of the root without its name (PyTorch 2.11).
std::optional<UnitWorkMark> unit_work_mark(std::string_view text,
                                           const std::vector<std::string>& units);
// Of marks of units: it is FullyShardedDataParallel's.
bool is_mark_of_wrapped(std::string_view text);

// How a program gathers and reduces its units.
struct UnitHabits {
  bool are_gathered_again = false;      // in backward, those that are not the root
  bool is_root_gathered_again = false;  // likewise
  bool are_gathered_ahead = false;      // in backward
  // Likewise, but only when the gradients of the unit before are there.
  bool are_gathered_behind_gradients = false;
  bool are_gathered_ahead_forward = false;
  bool are_kept_without_sync = false;  // gathered less often in forward than backward came
  bool are_replicated = false;         // their sums are added up across groups
  bool are_added_up_seldom = false;    // not in each micro-batch that sums within groups
  // Others are gathered again, and these are not, though backward comes to them.
  std::set<int> kept_units{};
  // The host waited in every such call: nothing was computed beside it.
  bool do_gathers_block = false, do_reductions_block = false;
  // In backward. A root that returns what another unit returned comes behind that.
  bool comes_root_first = true;
  bool are_wrapped = false;  // by FullyShardedDataParallel, not by fully_shard
};

// All steps of a rank, by its host's time, in any order.
struct UnitRecord {
  std::span<const UnitCall> calls;
  std::span<const UnitMark> marks;
  const base::Intervals& computes;
  std::size_t backwards = 0;  // phases
  int last_unit = 0;
};
UnitHabits unit_habits(const UnitRecord& record);  // all but are_wrapped

}  // namespace shardlens::trace::predict
