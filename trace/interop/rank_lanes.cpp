#include "trace/interop/rank_lanes.h"

#include <algorithm>

namespace shardlens::trace::interop {

namespace {

constexpr std::string_view kFurtherNames = "(one of further names)";  // beyond what a run can hold
constexpr std::size_t kDeepest = 255;

}  // namespace

model::StringId RowIds::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (strings_.size() + 2 >= model::kMostStringId && !strings_.contains(std::string(text))) {
    text = kFurtherNames;
  }
  const auto [found, is_new] =
      strings_.try_emplace(std::string(text), static_cast<model::StringId>(strings_.size() + 1));
  if (is_new) string_rows_.push_back({0, found->second, found->first});
  return found->second;
}

int RowIds::lane_of(model::LaneKind kind, const std::string& name) {
  const auto [found, is_new] = lanes_.try_emplace({kind, name}, static_cast<int>(lanes_.size()));
  if (is_new) lane_rows_.push_back({0, found->second, kind, intern(name)});
  return found->second;
}

std::optional<int> RowIds::known_lane(model::LaneKind kind, const std::string& name) const {
  const auto found = lanes_.find({kind, name});
  return found == lanes_.end() ? std::nullopt : std::optional(found->second);
}

void RowIds::move_to(model::Batch& rows) {
  rows.strings = std::move(string_rows_);
  rows.lanes = std::move(lane_rows_);
  *this = {};
}

void order_runs(EventRuns& runs) {
  for (auto& [key, events] : runs) {
    std::ranges::stable_sort(events, [](const model::Event& a, const model::Event& b) {
      return std::pair(a.start_ns, -a.duration_ns) < std::pair(b.start_ns, -b.duration_ns);
    });
    if (key.second != model::EventKind::kOperator) continue;
    std::vector<model::Event*> callers;
    for (model::Event& event : events) {
      while (!callers.empty() && callers.back()->end_ns() <= event.start_ns) callers.pop_back();
      const auto depth = std::min(callers.size(), kDeepest);
      event.flags |=
          static_cast<std::uint32_t>(depth) << model::kEventDepthShift | model::kEventLeaf;
      if (!callers.empty()) callers.back()->flags &= ~model::kEventLeaf;
      callers.push_back(&event);
    }
  }
}

void mark_compute(const StringIds& strings, const std::map<int, base::Intervals>& communicating,
                  EventRuns& runs) {
  std::vector<bool> is_aten(strings.size() + 1);
  for (const auto& [text, id] : strings) is_aten[id] = text.starts_with("aten::");
  for (auto& [key, events] : runs) {
    if (key.second != model::EventKind::kOperator) continue;
    const auto of_lane = communicating.find(key.first);
    const auto communicates = [&](std::int64_t time_ns) {
      if (of_lane == communicating.end()) return false;
      const auto within = base::first_ending_after(of_lane->second, time_ns);
      return within != of_lane->second.end() && within->start_ns <= time_ns;
    };
    std::vector<std::size_t> others(events.size() + 1);  // before each event
    for (std::size_t i = 0; i < events.size(); ++i) {
      others[i + 1] = others[i] + (is_aten[events[i].name] ? 0 : 1);
    }
    for (std::size_t i = 0; i < events.size();) {
      const auto behind =
          std::ranges::lower_bound(events.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                   events.end(), events[i].end_ns(), {}, &model::Event::start_ns);
      const auto next = static_cast<std::size_t>(behind - events.begin());
      const bool all_aten = others[next] == others[i];
      if (all_aten && !communicates(events[i].start_ns)) events[i].flags |= model::kEventCompute;
      i = all_aten ? next : i + 1;
    }
  }
}

}  // namespace shardlens::trace::interop
