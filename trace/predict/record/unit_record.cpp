#include "trace/predict/record/unit_record.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "trace/model/events.h"

namespace shardlens::trace::predict {

namespace {

constexpr std::string_view kWrapped = "FullyShardedDataParallel.";
// Of calls in which a rank computes: the way into them and out is some of it, too.
constexpr double kLeastOverlap = 0.05;

// What was marked last before a unit was gathered ahead in backward.
bool are_gathered_behind_gradients(const UnitRecord& record) {
  std::vector<UnitMark> marks(record.marks.begin(), record.marks.end());
  std::ranges::stable_sort(marks, {}, &UnitMark::time_ns);
  return std::ranges::any_of(record.calls, [&](const UnitCall& call) {
    if (call.what != UnitCall::What::kBackwardGather || !call.is_ahead) return false;
    const auto next = std::ranges::upper_bound(marks, call.enqueued_ns, {}, &UnitMark::time_ns);
    return next != marks.begin() && std::prev(next)->what == UnitMark::What::kGradients;
  });
}

// Of calls, and of them that in which the rank computed.
struct Overlap {
  std::int64_t calls_ns = 0, computed_ns = 0;

  void add(const UnitCall& call, const base::Intervals& computes) {
    const base::Interval time{call.start_ns, std::max(call.start_ns, call.end_ns)};
    calls_ns += time.length();
    computed_ns += base::length_within(computes, time);
  }
  bool is_none() const {
    return calls_ns > 0 &&
           kLeastOverlap * static_cast<double>(calls_ns) > static_cast<double>(computed_ns);
  }
};

// The root is kept by itself.
std::set<int> kept_units(const UnitRecord& record) {
  std::set<int> again;
  for (const UnitCall& call : record.calls) {
    if (call.what == UnitCall::What::kBackwardGather && call.unit != 0) again.insert(call.unit);
  }
  std::set<int> kept;
  if (again.empty()) return kept;
  for (const UnitMark& mark : record.marks) {
    const bool is_in_backward = mark.what == UnitMark::What::kBackward && mark.unit != 0;
    if (is_in_backward && !again.contains(mark.unit)) kept.insert(mark.unit);
  }
  return kept;
}

// A trace may end between the two.
bool are_added_up_seldom(std::span<const UnitCall> calls) {
  struct Counts {
    std::size_t within = 0, across = 0;
  };
  std::map<int, Counts> reductions;
  for (const UnitCall& call : calls) {
    if (call.what != UnitCall::What::kReduce) continue;
    ++(call.is_across_groups ? reductions[call.unit].across : reductions[call.unit].within);
  }
  return std::ranges::any_of(reductions, [](const auto& of_unit) {
    const Counts& counts = of_unit.second;
    return counts.across > 0 && counts.within >= 2 * counts.across;
  });
}

bool comes_root_first(std::span<const UnitMark> marks) {
  std::vector<UnitMark> in_order(marks.begin(), marks.end());
  std::ranges::stable_sort(in_order, {}, &UnitMark::time_ns);
  const auto begins_backward = [](const UnitMark& before, const UnitMark& mark) {
    return before.what == UnitMark::What::kForward && mark.what == UnitMark::What::kBackward;
  };
  const auto before = std::ranges::adjacent_find(in_order, begins_backward);
  return before == in_order.end() || std::next(before)->unit == 0;
}

// The unit of "FSDP::pre_forward (layers.3)", if `mark` is what comes before it.
std::optional<int> unit_marked(std::string_view text, std::string_view mark,
                               const std::vector<std::string>& units) {
  if (!text.starts_with(mark) || !text.ends_with(')')) return std::nullopt;
  text.remove_prefix(mark.size());
  if (!text.starts_with(" (")) return std::nullopt;
  const auto unit = std::ranges::find(units, text.substr(2, text.size() - 3));
  return unit == units.end() ? std::nullopt : std::optional(static_cast<int>(unit - units.begin()));
}

}  // namespace

std::optional<UnitCall> unit_call(const model::Collective& call, std::string_view tag) {
  if (call.tag_kind != model::TagKind::kUnit) return std::nullopt;
  using What = UnitCall::What;
  const auto has = [&](std::string_view what) { return tag.find(what) != tag.npos; };
  const bool in_forward = has(" forward gather"), in_backward = has(" backward gather");
  return UnitCall{.what = in_forward    ? What::kForwardGather
                          : in_backward ? What::kBackwardGather
                                        : What::kReduce,
                  .unit = call.tag_index,
                  .is_ahead = tag.ends_with(model::kPrefetchedEnding),
                  .enqueued_ns = call.enqueued_ns,
                  .end_ns = call.end_ns,
                  .start_ns = call.start_ns,
                  .is_across_groups = call.function == model::CollectiveFunction::kAllReduce};
}

std::optional<UnitMark> unit_mark(std::string_view text, const std::vector<std::string>& units) {
  using What = UnitMark::What;
  constexpr std::pair<std::string_view, What> kMarks[] = {
      {"FSDP::pre_forward", What::kForward},
      {"FSDP::pre_backward", What::kBackward},
      {"FSDP::post_backward_accumulate", What::kGradients},
      {"FullyShardedDataParallel._pre_forward", What::kForward},
      {"FullyShardedDataParallel._pre_backward_hook", What::kBackward},
      {"FullyShardedDataParallel._post_backward_hook", What::kGradients}};
  for (const auto& [name, what] : kMarks) {
    if (const auto unit = unit_marked(text, name, units)) return UnitMark{what, *unit};
  }
  return std::nullopt;
}

std::optional<UnitWorkMark> unit_work_mark(std::string_view text,
                                           const std::vector<std::string>& units) {
  using What = UnitWork::What;
  constexpr std::pair<std::string_view, What> kMarks[] = {
      {"FSDP::all_gather", What::kBeforeGather},
      {"FSDP::all_gather_copy_out", What::kBehindGather},
      {"FSDP::post_backward_reduce", What::kReduce}};
  for (const auto& [name, what] : kMarks) {
    const auto unit = text == name ? std::optional(0) : unit_marked(text, name, units);
    if (unit) return UnitWorkMark{what, *unit};
  }
  return std::nullopt;
}

bool is_mark_of_wrapped(std::string_view text) { return text.starts_with(kWrapped); }

UnitHabits unit_habits(const UnitRecord& record) {
  UnitHabits habits;
  habits.comes_root_first = comes_root_first(record.marks);
  habits.kept_units = kept_units(record);
  habits.are_added_up_seldom = are_added_up_seldom(record.calls);
  std::size_t gathers_in_forward = 0;  // of the last unit
  Overlap gathers, reductions;
  for (const UnitCall& call : record.calls) {
    if (call.what == UnitCall::What::kReduce) {
      reductions.add(call, record.computes);
      habits.are_replicated |= call.is_across_groups;
      continue;
    }
    gathers.add(call, record.computes);
    const bool in_forward = call.what == UnitCall::What::kForwardGather;
    if (in_forward && call.unit == record.last_unit) ++gathers_in_forward;
    (call.unit == 0 ? habits.is_root_gathered_again : habits.are_gathered_again) |= !in_forward;
    (in_forward ? habits.are_gathered_ahead_forward : habits.are_gathered_ahead) |= call.is_ahead;
  }
  habits.are_gathered_behind_gradients = are_gathered_behind_gradients(record);
  habits.are_kept_without_sync = gathers_in_forward < record.backwards;
  habits.do_gathers_block = gathers.is_none();
  habits.do_reductions_block = reductions.is_none();
  return habits;
}

}  // namespace shardlens::trace::predict
