#include "trace/analysis/steps/collective_calls.h"

#include <algorithm>
#include <tuple>

#include "trace/base/saturated.h"

namespace shardlens::trace::analysis {

namespace {

auto call_of(const CollectivePart& part) {
  return std::tie(part.process_group, part.first_member, part.sequence, part.function);
}

}  // namespace

CollectiveCalls::CollectiveCalls(std::vector<CollectivePart> parts) : parts_(std::move(parts)) {
  std::erase_if(parts_, [](const CollectivePart& part) {
    return part.sequence < 0 || part.function == model::CollectiveFunction::kSend ||
           part.function == model::CollectiveFunction::kReceive || !part.is_timed();
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

void CollectiveCalls::doubt_waits(const HostClocks& clocks) {
  CallClockErrors errors(clocks);
  std::vector<int> ranks;
  for (Call& call : calls_) {
    ranks.clear();
    for (const CollectivePart& part : parts_of(call)) ranks.push_back(part.rank);
    const auto& doubt = errors.of(ranks);
    call.clock_error_ns = doubt.error_ns;
    call.has_one_clock = !doubt.is_contradicted;
  }
}

const CollectiveCalls::Call* CollectiveCalls::call_with(const CollectivePart& like) const {
  const auto places = call_of_.find(like.rank);
  if (places != call_of_.end() && like.index < places->second.size()) {
    const std::uint32_t place = places->second[like.index];
    if (place > 0 && call_of(parts_[calls_[place - 1].first]) == call_of(like)) {
      return &calls_[place - 1];
    }
  }
  const auto found = std::ranges::lower_bound(
      calls_, like,
      [](const CollectivePart& a, const CollectivePart& b) { return call_of(a) < call_of(b); },
      [this](const Call& call) { return parts_[call.first]; });
  const bool is_it = found != calls_.end() && call_of(parts_[found->first]) == call_of(like);
  return is_it ? &*found : nullptr;
}

std::span<const CollectivePart> CollectiveCalls::same_call(const CollectivePart& like) const {
  const Call* const call = call_with(like);
  return call == nullptr ? std::span<const CollectivePart>{} : parts_of(*call);
}

const CollectiveCalls::Call* CollectiveCalls::whole_call_with(const CollectivePart& like,
                                                              std::size_t rank_count) const {
  const auto members = like.members > 0 ? static_cast<std::size_t>(like.members)
                                        : std::max<std::size_t>(rank_count, 2);
  const Call* const call = call_with(like);
  return call == nullptr || call->size < members ? nullptr : call;
}

bool CollectiveCalls::has_all_ranks(const CollectivePart& like, std::size_t rank_count) const {
  return whole_call_with(like, rank_count) != nullptr;
}

std::optional<std::int64_t> CollectiveCalls::latest_start_ns(const CollectivePart& like,
                                                             std::size_t rank_count) const {
  const Call* const call = whole_call_with(like, rank_count);
  if (call == nullptr || call->clock_error_ns == kUnknownClockError) return std::nullopt;
  const auto parts = parts_of(*call);
  const CollectivePart& latest = std::ranges::max(parts, {}, &CollectivePart::start_ns);
  if (call->clock_error_ns <= 0) return latest.start_ns;
  std::int64_t before_ns = like.rank == latest.rank ? INT64_MIN : like.start_ns;
  for (const CollectivePart& part : parts) {
    const bool is_before_latest = like.rank == latest.rank && part.rank != latest.rank;
    if (is_before_latest) before_ns = std::max(before_ns, part.start_ns);
  }
  const bool is_known =
      base::saturated_difference(latest.start_ns, before_ns) > call->clock_error_ns;
  return is_known ? std::optional(latest.start_ns) : std::nullopt;
}

bool CollectiveCalls::tells_transfer(const CollectivePart& like) const {
  if (like.members == 1) return true;
  const Call* const call = call_with(like);
  return call != nullptr && call->has_one_clock;
}

WaitEnd CollectiveCalls::wait_of(const CollectivePart& like, std::size_t rank_count) const {
  if (like.members == 1) return {like.start_ns};
  const Call* const call = whole_call_with(like, rank_count);
  if (call == nullptr) return {std::nullopt, WaitDoubt::kRecordsMissing};
  if (call->clock_error_ns == kUnknownClockError) return {std::nullopt, WaitDoubt::kClocksUnknown};
  const auto latest = std::ranges::max(parts_of(*call), {}, &CollectivePart::start_ns).start_ns;
  const bool has_left = like.end_ns <= latest;
  const std::int64_t wait_ns = has_left ? 0 : base::saturated_difference(latest, like.start_ns);
  if (call->clock_error_ns > 0 && wait_ns <= call->clock_error_ns) {
    return {std::nullopt, WaitDoubt::kClockError};
  }
  return {like.start_ns + wait_ns};
}

}  // namespace shardlens::trace::analysis
