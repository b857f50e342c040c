#include "trace/analysis/collectives/exposed_time.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "trace/analysis/figures/run_summary.h"

namespace shardlens::trace::analysis {

namespace {

// A row that comes late has its step computed again, for which the step's calls must still be here.
constexpr std::int64_t kKeptNs = 30'000'000'000;
constexpr std::size_t kCallsBetweenTrims = 4096;

bool counts(const StepFigures* step) {
  return step != nullptr && is_measured(*step) && has_detail(*step);
}

}  // namespace

void RowExposure::set(std::int64_t step, int rank, Parts parts) {
  open_[step][rank] = std::move(parts);
}

void RowExposure::add_to(std::vector<std::int64_t>& sums, const Step& step) {
  for (const auto& [rank, parts] : step) {
    for (const auto& [row, nanoseconds] : parts) {
      const auto index = static_cast<std::size_t>(row);
      if (sums.size() <= index) sums.resize(index + 1);
      sums[index] += nanoseconds;
    }
  }
}

void RowExposure::fold_before(std::int64_t step, const JoinedSteps& steps) {
  while (!open_.empty() && open_.begin()->first < step) {
    if (counts(steps.find(open_.begin()->first))) add_to(folded_, open_.begin()->second);
    open_.erase(open_.begin());
  }
}

std::vector<double> RowExposure::means(const JoinedSteps& steps, std::size_t rows) const {
  auto sums = folded_;
  sums.resize(rows);
  for (const auto& [index, step] : open_) {
    if (counts(steps.find(index))) add_to(sums, step);
  }
  double rank_steps = 0;
  for (const auto& step : steps.steps()) {
    if (counts(&step)) rank_steps += step.rank_count();
  }
  std::vector<double> result(rows);
  if (rank_steps == 0) return result;
  for (std::size_t row = 0; row < rows; ++row) {
    result[row] = static_cast<double>(sums[row]) / rank_steps;
  }
  return result;
}

void ExposureSplit::set(std::int64_t step, int rank, Exposed exposed) {
  Rank& own = ranks_[rank];
  own.is_dirty = true;
  own.waiting.erase(step);
  own.latest_window_ns = std::max(own.latest_window_ns, exposed.window.start_ns);
  const std::pair place(exposed.window.start_ns, step);
  own.open[place] = {std::move(exposed), true};
  if (own.open.size() > kMostOpen) own.open.erase(own.open.begin());
}

void ExposureSplit::add(const std::vector<MatchedCall>& calls) {
  for (const MatchedCall& call : calls) {
    Rank& rank = ranks_[call.rank];
    rank.is_dirty = true;
    rank.calls.add(call);
    auto open = rank.open.lower_bound({call.end_ns, INT64_MIN});
    while (open != rank.open.begin() && (--open)->second.exposed.window.end_ns > call.start_ns) {
      open->second.is_dirty = true;
    }
  }
}

bool ExposureSplit::decide(const Rank& rank, const Exposed& exposed, Waiting& waiting) {
  std::vector<base::Interval> known, moving;
  const auto& [window, times, calls] = exposed;
  rank.calls.visit(window.start_ns, window.end_ns, [&](const MatchedCall& call) {
    known.push_back({call.start_ns, call.end_ns});
    moving.push_back({call.moves_from_ns, call.end_ns});
    const bool is_far = call.hosts > 0 && base::length_within(times, known.back()) > 0;
    if (is_far) ++waiting.calls_between_hosts[call.hosts];
  });
  // A call of which not all is known yet may move data at any time.
  if (std::ssize(known) < calls) return false;
  // Some exposed time belongs to communication kernels for which no call was recorded.
  const std::int64_t exposed_ns = base::length(times);
  if (base::length(base::intersect(times, base::normalize(std::move(known)))) != exposed_ns)
    return false;
  waiting.ns =
      exposed_ns - base::length(base::intersect(times, base::normalize(std::move(moving))));
  return true;
}

void ExposureSplit::trim(Rank& rank) {
  if (rank.calls.size() < rank.calls_after_trim + kCallsBetweenTrims) return;
  std::int64_t needed_ns = rank.latest_window_ns;
  if (!rank.open.empty()) needed_ns = std::min(needed_ns, rank.open.begin()->first.first);
  if (needed_ns > INT64_MIN + kKeptNs) rank.calls.trim_before(needed_ns - kKeptNs);
  rank.calls_after_trim = rank.calls.size();
}

void ExposureSplit::resolve() {
  for (auto& [index, rank] : ranks_) {
    if (!std::exchange(rank.is_dirty, false)) continue;
    rank.calls.sort();
    for (auto open = rank.open.begin(); open != rank.open.end();) {
      Waiting waiting;
      const bool is_dirty = std::exchange(open->second.is_dirty, false);
      if (is_dirty && decide(rank, open->second.exposed, waiting)) {
        rank.waiting[open->first.second] = waiting;
        open = rank.open.erase(open);
      } else {
        ++open;
      }
    }
    trim(rank);
  }
}

void ExposureSplit::fill(std::vector<StepFigures>& steps,
                         const std::vector<CallClocks>& clocks) const {
  for (StepFigures& step : steps) {
    step.exposed_wait_ns.assign(step.ranks.size(), kUnknown);
    step.wait_error_ns.assign(step.ranks.size(), 0);
    for (std::size_t i = 0; i < step.ranks.size(); ++i) {
      const auto rank = ranks_.find(static_cast<int>(i));
      if (rank == ranks_.end()) continue;
      const auto found = rank->second.waiting.find(step.index);
      if (found == rank->second.waiting.end()) continue;
      step.exposed_wait_ns[i] = found->second.ns;
      for (const auto& [hosts, calls] : found->second.calls_between_hosts) {
        const std::int64_t error_ns = clocks[static_cast<std::size_t>(hosts)].error_ns;
        step.wait_error_ns[i] += error_ns == kUnknownClockError
                                     ? std::numeric_limits<double>::infinity()
                                     : static_cast<double>(error_ns) * static_cast<double>(calls);
      }
    }
  }
}

}  // namespace shardlens::trace::analysis
