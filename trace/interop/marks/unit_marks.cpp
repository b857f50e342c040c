#include "trace/interop/marks/unit_marks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/model/events.h"

namespace shardlens::trace::interop {

void UnitMarks::finish(std::vector<std::string> unit_names, bool are_inferred) {
  for (Marks& marks : marks_) std::ranges::stable_sort(marks, {}, start_of);
  std::ranges::sort(forwards_);
  units_ = std::move(unit_names);
  are_inferred_ = are_inferred;
}

void UnitMarks::refuse(std::string why) {
  marks_ = {};
  units_.clear();
  why_none_ = std::move(why);
}

auto UnitMarks::first_in(Kind kind, const base::Interval& time) const -> const Mark* {
  const auto first = std::ranges::lower_bound(of(kind), time.start_ns, {}, start_of);
  return first == of(kind).end() || first->time.start_ns >= time.end_ns ? nullptr : &*first;
}

std::int64_t UnitMarks::next_forward_ns(std::int64_t time_ns) const {
  const auto next = std::ranges::upper_bound(forwards_, time_ns, {}, &base::Interval::start_ns);
  return next == forwards_.end() ? INT64_MAX : next->start_ns;
}

std::int64_t UnitMarks::forward_end_ns(const base::Interval& time) const {
  std::int64_t end_ns = time.start_ns;
  const Marks& ends = of(Kind::kForwardEnd);
  auto mark = std::ranges::lower_bound(ends, time.start_ns, {}, start_of);
  for (; mark != ends.end() && mark->time.start_ns < time.end_ns; ++mark) {
    end_ns = std::max(end_ns, mark->time.end_ns);
  }
  return end_ns;
}

std::int64_t UnitMarks::backward_begin_ns(const base::Interval& time) const {
  const Mark* const first = first_in(Kind::kBackward, time);
  return first == nullptr ? time.end_ns : first->time.start_ns;
}

std::int64_t UnitMarks::backward_end_ns(const base::Interval& time) const {
  const Mark* const end = first_in(Kind::kBackwardEnd, time);
  return end == nullptr ? time.start_ns : end->time.end_ns;
}

int UnitMarks::unit_in_backward(std::int64_t time_ns) const {
  const Marks& begins = of(Kind::kBackward);
  const Marks& ends = of(Kind::kGradientsReady);
  const auto begin = std::ranges::upper_bound(begins, time_ns, {}, start_of);
  const auto end = std::ranges::upper_bound(ends, time_ns, {}, start_of);
  if (begin == begins.begin()) return kRoot;
  const bool has_ended =
      end != ends.begin() && std::prev(end)->time.start_ns > std::prev(begin)->time.start_ns;
  return has_ended ? kRoot : std::prev(begin)->unit;
}

std::optional<int> UnitMarks::unit_from(std::int64_t start_ns) const {
  for (const Kind kind :
       {Kind::kForward, Kind::kForwardEnd, Kind::kBackward, Kind::kGradientsReady}) {
    const Mark* const mark = first_in(kind, {start_ns, start_ns + 1});
    if (mark != nullptr) return mark->unit;
  }
  return std::nullopt;
}

auto UnitMarks::around(Kind kind, std::int64_t time_ns) const -> const Mark* {
  const auto next = std::ranges::upper_bound(of(kind), time_ns, {}, start_of);
  if (next == of(kind).begin() || std::prev(next)->time.end_ns < time_ns) return nullptr;
  return &*std::prev(next);
}

auto UnitMarks::use_at(std::int64_t asked_ns, std::span<const base::Interval> backwards) const
    -> std::optional<Use> {
  if (const Mark* const reduce = around(Kind::kReduce, asked_ns)) {
    Use use{.what = Use::What::kReduce, .unit = reduce->unit, .ready_ns = reduce->time.start_ns};
    // They are added up before it; the root's of all units in one go.
    const Marks& ready = of(Kind::kGradientsReady);
    const auto next = std::ranges::upper_bound(ready, asked_ns, {}, start_of);
    if (next != ready.begin() && std::prev(next)->unit == reduce->unit) {
      use.ready_ns = std::prev(next)->time.start_ns;
    }
    return use;
  }
  const Mark* const gather = around(Kind::kGather, asked_ns);
  if (gather == nullptr) return std::nullopt;
  const auto backward =
      std::ranges::upper_bound(backwards, asked_ns, {}, &base::Interval::start_ns);
  const bool in_backward = backward != backwards.begin() && std::prev(backward)->end_ns > asked_ns;
  const auto is_needed_in = [&](Kind kind) {
    const Mark* const mark = around(kind, asked_ns);
    return mark != nullptr && mark->unit == gather->unit;
  };
  const bool is_prefetched = around(Kind::kForwardPrefetch, asked_ns) != nullptr ||
                             around(Kind::kBackwardPrefetch, asked_ns) != nullptr;
  // Neither: the program asked for it, or forward goes through it a second time.
  const bool is_ahead = is_prefetched || (!in_backward && !is_needed_in(Kind::kForward));
  return Use{.what = in_backward ? Use::What::kBackwardGather : Use::What::kForwardGather,
             .unit = gather->unit,
             .is_ahead = is_ahead};
}

std::string UnitMarks::Use::text(std::string_view unit_name) const {
  std::string text(unit_name);
  text += what == What::kReduce          ? " reduce"
          : what == What::kForwardGather ? " forward gather"
                                         : " backward gather";
  if (is_ahead) text += model::kPrefetchedEnding;
  return text;
}

}  // namespace shardlens::trace::interop
