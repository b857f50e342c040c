#include "trace/analysis/steps/collective_calls.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "trace/base/saturated.h"
#include "trace/model/one_clock.h"

namespace shardlens::trace::analysis {

namespace {

// What a call took for so many bytes: calls of any size have one median.
constexpr double kGib = 1024.0 * 1024 * 1024;

double bytes_per_s(const MedianAccumulator& ns_per_gib) {
  const double median_ns = ns_per_gib.median();
  return median_ns > 0 ? kGib / median_ns * 1e9 : 0;
}

auto call_of(const CollectivePart& part) {
  return std::tie(part.process_group, part.first_member, part.sequence, part.function);
}

}  // namespace

CallWait wait_for(std::int64_t latest_start_ns, base::Interval own,
                  model::CollectiveFunction function) {
  const auto from = [&](std::int64_t begin_ns) {
    return std::max<std::int64_t>(0, base::saturated_difference(own.end_ns, begin_ns));
  };
  if (own.start_ns < latest_start_ns && own.end_ns <= latest_start_ns) {
    const bool has_left = !model::ends_after_all_began(function);
    return {has_left ? 0 : from(own.start_ns), {}, has_left, WaitDoubt::kNone};
  }
  return {base::saturated_difference(latest_start_ns, own.start_ns), from(latest_start_ns), false,
          WaitDoubt::kNone};
}

bool TransferSums::add(const CallWait& wait, std::int64_t bytes, double bus_factor) {
  const std::int64_t transfer_ns = wait.transfer_ns.value_or(0);
  if (!wait.wait_ns || transfer_ns <= 0) return false;
  ++matched_;
  wait_ns_ = base::saturated_add(wait_ns_, *wait.wait_ns);
  transfer_ns_ = base::saturated_add(transfer_ns_, transfer_ns);
  are_bytes_known_ &= bytes >= 0;
  if (bytes <= 0) return true;
  const double ns_per_gib = static_cast<double>(transfer_ns) * kGib / static_cast<double>(bytes);
  ns_per_gib_.add(ns_per_gib);
  if (bus_factor > 0) ns_per_bus_gib_.add(ns_per_gib / bus_factor);
  return true;
}

double TransferSums::algbw_bytes_per_s() const {
  return are_bytes_known_ ? bytes_per_s(ns_per_gib_) : 0;
}

double TransferSums::busbw_bytes_per_s() const {
  return are_bytes_known_ ? bytes_per_s(ns_per_bus_gib_) : 0;
}

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
    meetings.add_call(parts.front().function, parts);
  });
  return meetings.clocks(ranks);
}

void CollectiveCalls::doubt_waits(const HostClocks& clocks) {
  std::map<std::vector<int>, CallClocks> known;  // most are of a few groups
  std::vector<int> ranks;
  for (Call& call : calls_) {
    ranks.clear();
    for (const CollectivePart& part : parts_of(call)) ranks.push_back(part.rank);
    const auto [found, is_new] = known.try_emplace(ranks);
    if (is_new) found->second = clocks.of_call(ranks);
    call.clocks = found->second;
  }
}

std::int64_t CollectiveCalls::clock_error_ns(const CollectivePart& like) const {
  const Call* const call = call_with(like);
  return call == nullptr ? 0 : call->clocks.error_ns;
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
  const base::Interval own{like.start_ns, like.end_ns};
  if (like.members == 1) return wait_for(own.start_ns, own, like.function);
  const Call* const call = whole_call_with(like, rank_count);
  if (call == nullptr) return {};
  const std::int64_t error_ns = call->clocks.error_ns;
  if (error_ns == kUnknownClockError) return {.doubt = WaitDoubt::kClocksUnknown};
  const CollectivePart& latest = std::ranges::max(parts_of(*call), {}, &CollectivePart::start_ns);
  CallWait wait = wait_for(latest.start_ns, own, like.function);
  const auto since = [&](std::int64_t time_ns) {
    return base::saturated_difference(latest.start_ns, time_ns);
  };
  if ((error_ns > 0 && since(before_latest_ns(*call, like, latest)) <= error_ns) ||
      (wait.has_left && since(own.end_ns) < error_ns)) {
    return {.doubt = WaitDoubt::kClockError};
  }
  if (!call->clocks.tell_transfers()) wait.transfer_ns.reset();
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
