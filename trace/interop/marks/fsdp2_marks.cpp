#include "trace/interop/marks/fsdp2_marks.h"

#include <algorithm>
#include <array>
#include <utility>

namespace shardlens::trace::interop {

namespace {

using Kind = UnitMarks::Kind;

constexpr std::string_view kRoot = "root";
constexpr int kNotSeen = -1;

struct KindName {
  std::string_view name;
  Kind kind;
};

// A unit's name follows in brackets, except the root's, which has none; that of a prefetch behind
// "for".
const KindName* kind_of(std::string_view name) {
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

}  // namespace

int Fsdp2Marks::unit_id(std::string_view name) {
  if (ids_.empty()) ids_.emplace(kRoot, UnitMarks::kRoot);
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  return ids_.emplace(name, static_cast<int>(ids_.size())).first->second;
}

void Fsdp2Marks::add(const KinetoEvent& event) {
  if (event.category != KinetoCategory::kAnnotation) return;
  const std::string_view name = event.name;
  const base::Interval time = event.time();
  if (name == kFsdp2Forward) forwards_.push_back(time);
  const KindName* const kind = kind_of(name);
  if (kind == nullptr) return;
  std::string_view unit = kRoot;
  if (const auto open = name.find(" ("); open != name.npos && name.ends_with(')')) {
    unit = name.substr(open + 2, name.size() - open - 3);
  }
  marks_.push_back({kind->kind, {time, unit_id(unit)}});
}

std::vector<int> Fsdp2Marks::places() const {
  std::vector<int> places(ids_.size(), kNotSeen);
  int next = 0;
  const auto place = [&](int id) {
    int& known = places[static_cast<std::size_t>(id)];
    if (known == kNotSeen) known = next++;
  };
  const auto place_all = [&](const auto& is_of_kind) {
    for (const auto& [kind, mark] : marks_) {
      if (next > 0 && is_of_kind(kind)) place(mark.unit);
    }
  };
  if (std::ranges::find(marks_, Kind::kGather, &Mark::kind) != marks_.end())
    place(UnitMarks::kRoot);
  for (const Kind first : {Kind::kForward, Kind::kGather, Kind::kReduce}) {
    place_all([&](Kind kind) { return kind == first; });
  }
  // A trace may begin in the middle of a step, or be damaged.
  place_all([](Kind) { return true; });
  return places;
}

UnitMarks Fsdp2Marks::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  std::erase_if(marks_, [&](const Mark& each) { return !is_believed(each.mark.time); });
  std::ranges::stable_sort(marks_, {}, [](const Mark& each) { return each.mark.time.start_ns; });
  UnitMarks found;
  for (const base::Interval& time : forwards_) {
    if (is_believed(time)) found.add_forward(time);
  }
  const std::vector<int> by_id = places();
  std::vector<std::string> names(
      static_cast<std::size_t>(std::ranges::count_if(by_id, [](int p) { return p != kNotSeen; })));
  for (const auto& [name, id] : ids_) {
    const int known = by_id[static_cast<std::size_t>(id)];
    if (known != kNotSeen) names[static_cast<std::size_t>(known)] = name;
  }
  for (const auto& [kind, mark] : marks_) {
    const int known = by_id[static_cast<std::size_t>(mark.unit)];
    if (known != kNotSeen) found.add(kind, {mark.time, known});
  }
  found.finish(std::move(names), false);
  return found;
}

}  // namespace shardlens::trace::interop
