#include "trace/explore/run/call_matcher.h"

#include <algorithm>
#include <utility>

namespace shardlens::trace::explore {

namespace {

using std::chrono::steady_clock;

// While a run is live, matching all collectives again is put off for so many times as long as it
// took.
constexpr int kPause = 10;

}  // namespace

std::vector<analysis::CollectivePart> collectives_of(const RunSnapshot& run) {
  std::vector<analysis::CollectivePart> parts;
  for (const RankSnapshot& rank : run.ranks) {
    for (std::uint32_t i = 0; i < rank.rows->collectives.size(); ++i) {
      parts.push_back(part_of(*rank.rows, i));
    }
  }
  return parts;
}

void CallMatcher::add_to(RunSnapshot& run) {
  if (!std::ranges::all_of(run.ranks, &RankSnapshot::has_all_rows)) return;
  if (const auto began = steady_clock::now(); is_old_ && (!calls_ || hurries_ || began >= next_)) {
    std::vector<analysis::RankHost> hosts;
    for (const RankSnapshot& rank : run.ranks) hosts.push_back({rank.rank, rank.rows->info.host});
    auto calls = std::make_shared<analysis::CollectiveCalls>(collectives_of(run));
    clocks_ = std::make_shared<const analysis::HostClocks>(calls->clocks(hosts));
    calls->doubt_waits(*clocks_);
    calls_ = std::move(calls);
    is_old_ = false;
    next_ = steady_clock::now() + kPause * (steady_clock::now() - began);
  }
  run.calls = calls_;
  run.clocks = clocks_;
}

}  // namespace shardlens::trace::explore
