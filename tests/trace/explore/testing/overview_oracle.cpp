#include "tests/trace/explore/testing/overview_oracle.h"

#include <algorithm>
#include <set>

namespace shardlens::trace::test {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 61;

bool holds(const std::vector<base::Interval>& times, std::int64_t at) {
  return std::ranges::any_of(
      times, [&](const base::Interval& time) { return time.start_ns <= at && at < time.end_ns; });
}

std::int64_t floor_of(std::int64_t time, std::int64_t length) {
  const std::int64_t rest = time % length;
  return time - rest - (rest < 0 ? length : 0);
}

std::int64_t limited(std::int64_t time) { return std::clamp(time, -kMost, kMost); }

// Length of the union of what lies in a cell.
std::int64_t union_within(const std::vector<base::Interval>& times, base::Interval cell) {
  std::vector<base::Interval> parts;
  for (const base::Interval& time : times) {
    const base::Interval part{std::max(time.start_ns, cell.start_ns),
                              std::min(time.end_ns, cell.end_ns)};
    if (part.end_ns > part.start_ns) parts.push_back(part);
  }
  std::ranges::sort(parts);
  std::int64_t sum = 0, at = INT64_MIN;
  for (const base::Interval& part : parts) {
    if (part.end_ns <= at) continue;
    sum += part.end_ns - std::max(part.start_ns, at);
    at = part.end_ns;
  }
  return sum;
}

}  // namespace

base::Interval OverviewOracle::ordered(std::int64_t start, std::int64_t end) {
  return {std::min(limited(start), limited(end)), std::max(limited(start), limited(end))};
}

void OverviewOracle::add(const model::Batch& batch) {
  for (const auto& string : batch.strings) names_[string.id] = string.text;
  for (const model::Step& step : batch.steps) {
    if (!step.full_detail) undetailed_.push_back(ordered(step.start_ns, step.end_ns));
  }
  for (const model::Span& span : batch.spans) {
    if (span.depth != 0 || span.phase != base::Phase::kOptimizer) continue;
    optimizer_.push_back(ordered(span.start_ns, span.end_ns));
  }
  for (const model::Collective& row : batch.collectives) {
    communication_.push_back(ordered(row.start_ns, row.end_ns));
  }
  for (const model::EventRun& run : batch.events) add_run(run);
}

void OverviewOracle::add_run(const model::EventRun& run) {
  if (run.kind == model::EventKind::kAllocation) return;
  for (const model::Event& event : run.events) {
    const bool is_operator = run.kind == model::EventKind::kOperator;
    const std::int64_t start = limited(event.start_ns);
    const base::Interval time = ordered(start, start + limited(event.duration_ns));
    const int depth = is_operator ? std::min(event.depth(), explore::kOverviewDepths - 1) : 0;
    events_[{run.lane, run.kind, depth}].push_back(time);
    if (run.kind == model::EventKind::kCopy) copies_.push_back(time);
    if (is_operator && (event.flags & model::kEventCompute) != 0) compute_.push_back(time);
    if (run.kind == model::EventKind::kKernel) {
      (names_[event.name].starts_with("nccl") ? communication_ : compute_).push_back(time);
    }
  }
}

std::map<explore::OverviewLane, OverviewOracle::Cells> OverviewOracle::lanes(
    int cell_bits, base::Interval window) const {
  std::map<explore::OverviewLane, Cells> lanes;
  const std::int64_t length = std::int64_t{1} << cell_bits;
  for (const auto& [lane, events] : events_) {
    Cells& cells = lanes[lane];
    for (const base::Interval& event : events) {
      const bool begins = event.start_ns >= window.start_ns && event.start_ns < window.end_ns;
      if (begins) ++cells[floor_of(event.start_ns, length)].count;
      const std::int64_t from = std::max(event.start_ns, window.start_ns);
      const std::int64_t to = std::min(event.end_ns, window.end_ns);
      for (std::int64_t at = floor_of(from, length); from < to && at < to; at += length) {
        Cell& cell = cells[at];
        cell.longest_ns = std::max(cell.longest_ns, event.end_ns - event.start_ns);
      }
    }
    for (auto& [at, cell] : cells) {
      cell.busy_ns = union_within(
          events, {std::max(at, window.start_ns), std::min(at + length, window.end_ns)});
    }
  }
  return lanes;
}

// Time cut wherever anything changes; each piece judged by its first nanosecond.
std::map<std::int64_t, base::TimeByClass> OverviewOracle::classes(int cell_bits,
                                                                  base::Interval window,
                                                                  base::Interval extent) const {
  const std::int64_t length = std::int64_t{1} << cell_bits;
  std::set<std::int64_t> cuts{window.start_ns, window.end_ns, extent.start_ns, extent.end_ns};
  for (const auto* times : {&compute_, &communication_, &copies_, &undetailed_, &optimizer_}) {
    for (const base::Interval& time : *times) {
      cuts.insert({std::clamp(time.start_ns, window.start_ns, window.end_ns),
                   std::clamp(time.end_ns, window.start_ns, window.end_ns)});
    }
  }
  for (std::int64_t at = floor_of(window.start_ns, length) + length; at < window.end_ns;
       at += length) {
    cuts.insert(at);
  }
  std::map<std::int64_t, base::TimeByClass> classes;
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    const std::int64_t at = *cut;
    const bool computes = holds(compute_, at), sends = holds(communication_, at);
    base::TimeClass time_class = base::TimeClass::kIdle;
    if (computes && sends) {
      time_class = base::TimeClass::kOverlapped;
    } else if (computes) {
      time_class = holds(optimizer_, at) ? base::TimeClass::kOptimizer : base::TimeClass::kCompute;
    } else if (sends) {
      time_class = base::TimeClass::kExposed;
    } else if (holds(copies_, at)) {
      time_class = base::TimeClass::kCopy;
    } else if (!holds({extent}, at) || holds(undetailed_, at)) {
      continue;
    }
    classes[floor_of(at, length)][base::index_of(time_class)] += *std::next(cut) - at;
  }
  return classes;
}

}  // namespace shardlens::trace::test
