#include "trace/timeline/words/row_labels.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "trace/base/text.h"

namespace shardlens::trace::timeline {

namespace {

bool shows(const LaneContent& lane, RowKind kind) {
  const auto has = [&](model::EventKind of) {
    return lane.events[static_cast<std::size_t>(of)] != 0;
  };
  switch (kind) {
    case RowKind::kPhases:
      return lane.spans != 0;
    case RowKind::kOperators:
      return has(model::EventKind::kOperator);
    case RowKind::kLaunches:
      return has(model::EventKind::kLaunch);
    case RowKind::kKernels:
      return has(model::EventKind::kKernel);
    case RowKind::kCommunication:
      return lane.collectives != 0;
    case RowKind::kCopies:
      return has(model::EventKind::kCopy);
    default:
      return false;
  }
}

// "stream 7" of "GPU 0 stream 7" and of "stream 7, copies"; "" where there is none.
std::string stream_of(std::string_view name) {
  const auto at = name.find("stream ");
  if (at == std::string_view::npos || (at > 0 && name[at - 1] != ' ')) return "";
  auto end = at + 7;
  while (end < name.size() && std::isalnum(static_cast<unsigned char>(name[end])) != 0) ++end;
  return std::string(name.substr(at, end - at));
}

// The lane's name without what the title says.
std::string_view own_name(std::string_view name) {
  for (const std::string_view prefix : {"operators of the ", "operators of ", "launches of the ",
                                        "launches of ", "annotations of ", "NVTX of ", "NVTX "}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

}  // namespace

std::string_view kind_name(RowKind kind) {
  static constexpr std::array<std::string_view, 11> kNames{
      "Ribbon", "Phases",          "Operators", "Launches", "Kernels", "Communication",
      "Copies", "Gradients ready", "Memory",    "Counters", "GPU"};
  return base::enum_name<RowKind::kGpu>(kNames, kind);
}

std::string lane_label(const RankContent& rank, const LaneContent& lane, RowKind kind) {
  const auto is_same = [&](const LaneContent& other) {
    return &other != &lane && other.lane != lane.lane && shows(other, kind);
  };
  std::string label(kind == RowKind::kKernels ? "Compute" : kind_name(kind));
  if (kind == RowKind::kCommunication) {
    if (!lane.collective_function.empty()) label = lane.collective_function;
    if (!lane.group_name.empty()) return label + " · " + lane.group_name;
  }
  if (kind == RowKind::kKernels && lane.kind == model::LaneKind::kCommunication)
    label = lane.computing_kernels > 0 ? "Kernels" : "NCCL kernels";
  if (kind == RowKind::kOperators && lane.name.starts_with("NVTX")) label = "NVTX";
  const std::string stream = stream_of(lane.name);
  const bool is_only = std::ranges::none_of(rank.lanes, is_same);
  const bool is_of_stream = kind == RowKind::kKernels || kind == RowKind::kCommunication ||
                            (kind == RowKind::kCopies && !is_only);
  const bool stream_is_unique =
      !stream.empty() && std::ranges::none_of(rank.lanes, [&](const LaneContent& other) {
        return is_same(other) && stream_of(other.name) == stream;
      });
  if (is_of_stream && stream_is_unique) return label + " " + stream;
  if (is_only || lane.name.empty()) return label;
  return label + " · " + std::string(own_name(lane.name));
}

int main_thread_lane(const RankContent& rank) {
  const auto phases = std::ranges::max_element(rank.lanes, {}, &LaneContent::spans);
  if (phases == rank.lanes.end() || phases->spans <= 0) return -1;
  const auto found = std::ranges::find_if(rank.lanes, [&](const LaneContent& lane) {
    return shows(lane, RowKind::kOperators) && own_name(lane.name) == own_name(phases->name);
  });
  return found == rank.lanes.end() ? -1 : found->lane;
}

std::string collective_title(model::CollectiveFunction function) {
  std::string text(model::to_string(function));
  std::ranges::replace(text, '_', '-');
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace shardlens::trace::timeline
