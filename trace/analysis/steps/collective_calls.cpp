#include "trace/analysis/steps/collective_calls.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

HostClocks CollectiveCalls::clocks(std::span<const RankHost> ranks) const {
  ClockMeetings meetings;
  for_each_call([&](std::span<const CollectivePart> parts) {
    const CollectivePart& first = parts.front();
    for (const CollectivePart& part : parts.subspan(1)) {
      meetings.add(first.function, {first.rank, first.start_ns, first.end_ns},
                   {part.rank, part.start_ns, part.end_ns});
    }
  });
  return meetings.clocks(ranks);
}

void CollectiveCalls::doubt_waits(const HostClocks& clocks) {
  std::map<std::vector<int>, std::pair<std::int64_t, bool>> known;  // most are of a few groups
  std::vector<int> ranks;
  for (Call& call : calls_) {
    ranks.clear();
    for (const CollectivePart& part : parts_of(call)) ranks.push_back(part.rank);
    const auto [found, is_new] = known.try_emplace(ranks);
    if (is_new) {
      found->second = {std::max<std::int64_t>(0, clocks.error_between_hosts(ranks)),
                       !clocks.contradict_one_clock(ranks)};
    }
    std::tie(call.clock_error_ns, call.has_one_clock) = found->second;
  }
}

std::int64_t CollectiveCalls::clock_error_ns(const CollectivePart& like) const {
  const Call* const call = call_with(like);
  return call == nullptr ? 0 : call->clock_error_ns;
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

CallWait CollectiveCalls::wait_of(const CollectivePart& like, std::size_t rank_count) const {
  const auto from = [&](std::int64_t begin_ns) {
    return std::max<std::int64_t>(0, base::saturated_difference(like.end_ns, begin_ns));
  };
  if (like.members == 1) return {0, from(like.start_ns), false, WaitDoubt::kNone};
  const Call* const call = whole_call_with(like, rank_count);
  if (call == nullptr) return {};
  if (call->clock_error_ns == kUnknownClockError) return {{}, {}, false, WaitDoubt::kClocksUnknown};
  const CollectivePart& latest = std::ranges::max(parts_of(*call), {}, &CollectivePart::start_ns);
  if (call->clock_error_ns > 0 &&
      base::saturated_difference(latest.start_ns, before_latest_ns(*call, like, latest)) <=
          call->clock_error_ns) {
    return {{}, {}, false, WaitDoubt::kClockError};
  }
  if (like.start_ns < latest.start_ns && like.end_ns <= latest.start_ns) {
    if (ends_after_all_began(like.function))
      return {from(like.start_ns), {}, false, WaitDoubt::kNone};
    if (base::saturated_difference(latest.start_ns, like.end_ns) < call->clock_error_ns)
      return {{}, {}, false, WaitDoubt::kClockError};
    return {0, {}, true, WaitDoubt::kNone};
  }
  CallWait wait{
      base::saturated_difference(latest.start_ns, like.start_ns), {}, false, WaitDoubt::kNone};
  if (call->has_one_clock) wait.transfer_ns = from(latest.start_ns);
  return wait;
}

std::int64_t CollectiveCalls::before_latest_ns(const Call& call, const CollectivePart& like,
                                               const CollectivePart& latest) const {
  if (like.rank != latest.rank) return like.start_ns;
  std::int64_t before_ns = INT64_MIN;
  for (const CollectivePart& part : parts_of(call)) {
    if (part.rank != latest.rank) before_ns = std::max(before_ns, part.start_ns);
  }
  return before_ns;
}

}  // namespace shardlens::trace::analysis
