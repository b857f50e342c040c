#include "trace/interop/host_calls.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

namespace shardlens::trace::interop {

namespace {

// torch/csrc/distributed/c10d/Ops.cpp and ProcessGroupGloo.cpp of PyTorch 2.11.
struct CallName {
  std::string_view op, collective;
};
constexpr std::array kCallNames{
    CallName{"c10d::allreduce_", "gloo:all_reduce"}, CallName{"c10d::broadcast_", "gloo:broadcast"},
    CallName{"c10d::allgather_", "gloo:all_gather"}, CallName{"c10d::reduce_", "gloo:reduce"}};

constexpr std::size_t kMostThreads = 4;  // of Gloo; 2 by default

}  // namespace

void HostCalls::add(const KinetoEvent& event) {
  if (event.category != KinetoCategory::kOperator) return;
  const auto known = std::ranges::find(kCallNames, std::string_view(event.name), &CallName::op);
  if (known == kCallNames.end()) return;
  asked_.push_back({known->collective, event.start_ns, event.input_elements});
}

void HostCalls::finish(const std::function<bool(const base::Interval&)>& is_believed) {
  std::erase_if(asked_, [&](const Asked& asked) {
    return !is_believed({asked.time_ns, asked.time_ns});
  });
  std::ranges::stable_sort(asked_, {}, &Asked::time_ns);
}

std::vector<std::int64_t> HostCalls::asked_ns(std::span<const KinetoEvent* const> started) const {
  std::map<std::string_view, std::deque<std::size_t>> waiting;  // places in `started`, by name
  for (std::size_t i = 0; i < started.size(); ++i) waiting[started[i]->name].push_back(i);
  std::vector<std::int64_t> times(started.size());
  std::size_t matched = 0;
  for (const Asked& asked : asked_) {
    auto& places = waiting[asked.collective];
    const auto end =
        places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), kMostThreads));
    const auto is_it = [&](std::size_t place) {
      const KinetoEvent& event = *started[place];
      const bool is_of_size =
          asked.elements < 0 || event.input_elements < 0 || asked.elements == event.input_elements;
      return event.start_ns >= asked.time_ns && is_of_size;
    };
    const auto found = std::find_if(places.begin(), end, is_it);
    if (found == end) return {};
    times[*found] = asked.time_ns;
    places.erase(found);
    ++matched;
  }
  if (matched != started.size()) return {};
  return times;
}

}  // namespace shardlens::trace::interop
