#include "trace/analysis/figures/throttling.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "trace/analysis/figures/labels.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/number_text.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::analysis {

namespace {

constexpr std::size_t kMostNamedRanks = 8;

std::string named_ranks(const std::vector<int>& ranks) {
  if (ranks.size() > kMostNamedRanks) return std::to_string(ranks.size()) + " ranks";
  return ranks_text(ranks);
}

}  // namespace

bool ThrottledTimes::add(std::int64_t time_ns, double limits) {
  if (time_ns <= last_ns_) return false;
  const bool is_first = last_ns_ == INT64_MIN;
  const std::int64_t start = is_first ? time_ns : std::max(last_ns_, time_ns - kLongestNs);
  last_ns_ = time_ns;
  if (is_first || !std::isfinite(limits) || limits < 0 || limits > UINT32_MAX) return true;
  const std::uint32_t throttling = static_cast<std::uint32_t>(limits) & model::kThrottling;
  if (throttling == 0) return true;
  if (!times_.empty() && times_.back().end_ns == start && times_.back().limits == throttling) {
    times_.back().end_ns = time_ns;
  } else {
    times_.push_back({start, time_ns, throttling});
  }
  return true;
}

ThrottledTimes::Touch ThrottledTimes::in(std::int64_t start_ns, std::int64_t end_ns) const {
  Touch touch;
  auto time = std::ranges::upper_bound(times_, start_ns, {}, &ThrottledTime::end_ns);
  for (; time != times_.end() && time->start_ns < end_ns; ++time) {
    touch.limits |= time->limits;
    touch.ns += std::min(time->end_ns, end_ns) - std::max(time->start_ns, start_ns);
  }
  return touch;
}

void mark_throttled(std::vector<StepFigures>& steps, int rank, const ThrottledTimes& throttled) {
  if (throttled.times().empty()) return;
  const auto place = static_cast<std::size_t>(rank);
  for (StepFigures& step : steps) {
    if (place >= step.ranks.size() || step.ranks[place].step_ns <= 0) continue;
    const StepBreakdown& own = step.ranks[place];
    const auto touch = throttled.in(own.start_ns, own.start_ns + own.step_ns);
    if (touch.ns > 0) step.throttling.push_back({rank, touch.limits, touch.ns});
  }
}

std::string throttling_sentence(const std::vector<StepFigures>& steps) {
  std::int64_t touched = 0, measured = 0;
  std::uint32_t limits = 0;
  std::set<int> ranks;
  for (const StepFigures& step : steps) {
    if (!is_measured(step)) continue;
    ++measured;
    if (!step.throttling.empty()) ++touched;
    for (const StepThrottling& on : step.throttling) {
      limits |= on.limits;
      ranks.insert(on.rank);
    }
  }
  if (touched == 0) return "";
  return std::to_string(touched) + " of " + base::counted(measured, "step") + " throttled on " +
         named_ranks({ranks.begin(), ranks.end()}) + ": " + model::throttling_text(limits);
}

std::string throttling_note(const StepFigures& step) {
  std::vector<StepThrottling> longest = step.throttling;
  std::ranges::stable_sort(longest, {}, [](const StepThrottling& on) { return -on.ns; });
  std::string text;
  for (std::size_t i = 0; i < std::min(longest.size(), kMostNamedRanks); ++i) {
    const auto milliseconds = (longest[i].ns + 500'000) / 1'000'000;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(longest[i].rank) + ": " +
            model::throttling_text(longest[i].limits) + " for " +
            (milliseconds == 0 ? "less than 1" : std::to_string(milliseconds)) + " ms";
  }
  if (longest.size() > kMostNamedRanks) {
    text += "; and " + std::to_string(longest.size() - kMostNamedRanks) + " more ranks";
  }
  return text;
}

}  // namespace shardlens::trace::analysis
