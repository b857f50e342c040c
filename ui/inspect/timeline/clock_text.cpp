#include "ui/inspect/timeline/clock_text.h"

#include <algorithm>

#include "trace/timeline/values/rank_clocks.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

std::string if_one_host(const trace::timeline::TimelineRank& rank) {
  return rank.host.empty() ? " Its host was not recorded; if it is the same one, so is the clock."
                           : "";
}

}  // namespace

std::string clock_text(const trace::timeline::TimelineRank& rank,
                       const trace::timeline::TimelineRank& first) {
  const std::string against = "rank " + std::to_string(first.rank);
  if (rank.rank == first.rank || rank.clock_error_ns < 0) return "";
  if (rank.clock_error_ns == 0) return "The same clock as " + against + ".";
  if (rank.clock_error_ns == trace::analysis::kUnknownClockError) {
    return "Nothing tells how far its clock is from that of " + against +
           ": no collective connects them." + if_one_host(rank);
  }
  return "Its clock and that of " + against + " differ by " +
         present::length_text(rank.clock_error_ns) + " at most: the collectives of both say so." +
         if_one_host(rank);
}

std::string clocks_text(std::span<const trace::timeline::TimelineRank> ranks) {
  if (ranks.size() < 2) return "";
  const auto worst =
      std::ranges::max_element(ranks, {}, &trace::timeline::TimelineRank::clock_error_ns);
  if (std::ranges::min(ranks, {}, &trace::timeline::TimelineRank::clock_error_ns).clock_error_ns <
      0)
    return "";
  if (worst->clock_error_ns == 0) {
    return ranks.front().host.empty() ? "They have one clock."
                                      : "All on " + ranks.front().host + ": one clock.";
  }
  return "Rank " + std::to_string(worst->rank) + " is the least certain. " +
         clock_text(*worst, ranks.front());
}

}  // namespace shardlens::ui::inspect
