#include "trace/interop/marks/fsdp_marks.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace shardlens::trace::interop {

namespace {

constexpr std::string_view kRoot = "root";
constexpr int kRootUnit = 0;

}  // namespace

// A unit's name follows in brackets, except the root's, which has none; that of a prefetch behind
// "for".
auto FsdpMarks::kind_of(std::string_view name) -> const KindName* {
  static constexpr std::array kNames{
      KindName{"FSDP::all_gather", Kind::kGather},
      KindName{"FSDP::post_backward_reduce", Kind::kReduce},
      KindName{"FSDP::pre_forward", Kind::kForward},
      KindName{"FSDP::post_forward", Kind::kForwardEnd},
      KindName{"FSDP::pre_backward", Kind::kBackward},
      KindName{"FSDP::post_backward_accumulate", Kind::kGradientsReady},
      KindName{"FSDP::forward_prefetch", Kind::kForwardPrefetch},
      KindName{"FSDP::backward_prefetch", Kind::kBackwardPrefetch},
      KindName{"FSDP::root_post_backward_callback", Kind::kBackwardEnd},
  };
  const auto found = std::ranges::find(kNames, name.substr(0, name.find(' ')), &KindName::name);
  return found == kNames.end() ? nullptr : found;
}

int FsdpMarks::unit_id(std::string_view name) {
  if (ids_.empty()) ids_.emplace(kRoot, kRootUnit);
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  return ids_.emplace(name, static_cast<int>(ids_.size())).first->second;
}

void FsdpMarks::add(const KinetoEvent& event) {
  if (event.category != KinetoCategory::kAnnotation) return;
  const std::string_view name = event.name;
  const KindName* const kind = kind_of(name);
  if (kind == nullptr) return;
  std::string_view unit = kRoot;
  if (const auto open = name.find(" ("); open != name.npos && name.ends_with(')')) {
    unit = name.substr(open + 2, name.size() - open - 3);
  }
  marks_[static_cast<std::size_t>(kind->kind)].push_back(
      {{event.start_ns, event.start_ns + event.duration_ns}, unit_id(unit)});
}

void FsdpMarks::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  for (Marks& marks : marks_) {
    std::erase_if(marks, [&](const Mark& mark) { return !is_believed(mark.time); });
    std::ranges::stable_sort(marks, {}, start_of);
  }
  constexpr int kNotSeen = -1;
  std::vector<int> places(ids_.size(), kNotSeen);
  int next = 0;
  const auto place = [&](int id) {
    int& known = places[static_cast<std::size_t>(id)];
    if (known == kNotSeen) known = next++;
  };
  if (!of(Kind::kGather).empty()) place(kRootUnit);
  const auto place_all = [&](const Marks& marks) {
    for (const Mark& mark : marks) {
      if (next > 0) place(mark.unit);
    }
  };
  for (const Kind kind : {Kind::kForward, Kind::kGather, Kind::kReduce}) place_all(of(kind));
  // A trace may begin in the middle of a step, or be damaged.
  for (const Marks& marks : marks_) place_all(marks);
  units_.resize(static_cast<std::size_t>(next));
  for (const auto& [name, id] : ids_) {
    const int known = places[static_cast<std::size_t>(id)];
    if (known != kNotSeen) units_[static_cast<std::size_t>(known)] = name;
  }
  for (Marks& marks : marks_) {
    for (Mark& mark : marks) mark.unit = places[static_cast<std::size_t>(mark.unit)];
  }
}

auto FsdpMarks::first_in(Kind kind, const base::Interval& time) const -> const Mark* {
  const auto first = std::ranges::lower_bound(of(kind), time.start_ns, {}, start_of);
  return first == of(kind).end() || first->time.start_ns >= time.end_ns ? nullptr : &*first;
}

std::int64_t FsdpMarks::forward_end_ns(const base::Interval& time) const {
  std::int64_t end_ns = time.start_ns;
  const Marks& ends = of(Kind::kForwardEnd);
  auto mark = std::ranges::lower_bound(ends, time.start_ns, {}, start_of);
  for (; mark != ends.end() && mark->time.start_ns < time.end_ns; ++mark) {
    end_ns = std::max(end_ns, mark->time.end_ns);
  }
  return end_ns;
}

std::int64_t FsdpMarks::backward_begin_ns(const base::Interval& time) const {
  const Mark* const first = first_in(Kind::kBackward, time);
  return first == nullptr ? time.end_ns : first->time.start_ns;
}

std::int64_t FsdpMarks::backward_end_ns(const base::Interval& time) const {
  const Mark* const end = first_in(Kind::kBackwardEnd, time);
  return end == nullptr ? time.start_ns : end->time.end_ns;
}

int FsdpMarks::unit_in_backward(std::int64_t time_ns) const {
  const Marks& begins = of(Kind::kBackward);
  const Marks& ends = of(Kind::kGradientsReady);
  const auto begin = std::ranges::upper_bound(begins, time_ns, {}, start_of);
  const auto end = std::ranges::upper_bound(ends, time_ns, {}, start_of);
  if (begin == begins.begin()) return kRootUnit;
  const bool has_ended =
      end != ends.begin() && std::prev(end)->time.start_ns > std::prev(begin)->time.start_ns;
  return has_ended ? kRootUnit : std::prev(begin)->unit;
}

auto FsdpMarks::around(Kind kind, std::int64_t time_ns) const -> const Mark* {
  const auto next = std::ranges::upper_bound(of(kind), time_ns, {}, start_of);
  if (next == of(kind).begin() || std::prev(next)->time.end_ns < time_ns) return nullptr;
  return &*std::prev(next);
}

auto FsdpMarks::use_at(std::int64_t asked_ns, std::span<const base::Interval> backwards) const
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

std::string FsdpMarks::Use::text(std::string_view unit_name) const {
  std::string text(unit_name);
  text += what == What::kReduce          ? " reduce"
          : what == What::kForwardGather ? " forward gather"
                                         : " backward gather";
  if (is_ahead) text += ", prefetched";
  return text;
}

}  // namespace shardlens::trace::interop
