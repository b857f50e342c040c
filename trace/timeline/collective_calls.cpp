#include "trace/timeline/collective_calls.h"

#include <algorithm>
#include <tuple>

#include "trace/model/saturated.h"

namespace shardlens::trace {

namespace {

auto call_of(const CollectivePart& part) {
  return std::tie(part.process_group, part.first_member, part.sequence, part.function);
}

}  // namespace

CollectiveCalls::CollectiveCalls(std::vector<CollectivePart> parts) : parts_(std::move(parts)) {
  std::erase_if(parts_, [](const CollectivePart& part) {
    return part.sequence < 0 || part.function == CollectiveFunction::kSend ||
           part.function == CollectiveFunction::kReceive;
  });
  std::ranges::sort(parts_, [](const CollectivePart& a, const CollectivePart& b) {
    return std::tuple(call_of(a), a.rank, a.start_ns) < std::tuple(call_of(b), b.rank, b.start_ns);
  });
  // Contradictory: one rank cannot take part twice.
  const auto repeated = std::ranges::unique(parts_, [](const auto& a, const auto& b) {
    return a.rank == b.rank && call_of(a) == call_of(b);
  });
  parts_.erase(repeated.begin(), repeated.end());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const CollectivePart& part = parts_[i];
    if (i == 0 || call_of(part) != call_of(parts_[i - 1])) calls_.push_back({i, 0});
    ++calls_.back().size;
    auto& places = call_of_[part.rank];
    if (part.index >= places.size()) places.resize(std::size_t{part.index} + 1);
    places[part.index] = static_cast<std::uint32_t>(calls_.size());
  }
}

std::span<const CollectivePart> CollectiveCalls::same_call(const CollectivePart& like) const {
  const auto places = call_of_.find(like.rank);
  if (places != call_of_.end() && like.index < places->second.size()) {
    const std::uint32_t place = places->second[like.index];
    if (place > 0 && call_of(parts_[calls_[place - 1].first]) == call_of(like)) {
      return parts_of(calls_[place - 1]);
    }
  }
  const auto range = std::equal_range(
      parts_.begin(), parts_.end(), like,
      [](const CollectivePart& a, const CollectivePart& b) { return call_of(a) < call_of(b); });
  return {range.first, range.second};
}

std::int64_t CollectiveCalls::latest_start_ns(const CollectivePart& like) const {
  const auto parts = same_call(like);
  if (parts.size() < 2) return 0;
  const auto latest = std::ranges::max(parts, {}, &CollectivePart::start_ns).start_ns;
  return saturated_difference(latest, like.start_ns) > clock_error_ns_ ? latest : like.start_ns;
}

}  // namespace shardlens::trace
