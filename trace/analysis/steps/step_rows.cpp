#include "trace/analysis/steps/step_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "trace/analysis/steps/rank_activity.h"

namespace shardlens::trace {

StepRowCollector::StepRowCollector(const StepFigures& step, const StringTable& strings)
    : strings_(strings),
      rows_(step.ranks.size()),
      communication_(step.ranks.size()),
      copies_(step.ranks.size()) {
  for (const auto& rank : step.ranks) {
    steps_.push_back({rank.start_ns, rank.start_ns + rank.step_ns});
  }
}

bool StepRowCollector::touches(int rank, std::int64_t start_ns, std::int64_t end_ns) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= steps_.size()) return false;
  if (!is_plausible_time(start_ns, end_ns)) return false;
  const auto& step = steps_[static_cast<std::size_t>(rank)];
  return start_ns < step.end_ns && end_ns > step.start_ns;
}

void StepRowCollector::take_in(const Batch& batch) {
  for (const auto& run : batch.events) take_in(run);
  for (const auto& span : batch.spans) {
    if (!touches(span.rank, span.start_ns, span.end_ns)) continue;
    auto& rows = rows_[static_cast<std::size_t>(span.rank)];
    rows.spans.push_back(span);
    if (span.depth == 0) rows.phases.push_back({span.start_ns, span.end_ns, span.phase});
  }
  collectives_.insert(collectives_.end(), batch.collectives.begin(), batch.collectives.end());
  for (const auto& collective : batch.collectives) {
    if (!touches(collective.rank, collective.start_ns, collective.end_ns)) continue;
    const auto rank = static_cast<std::size_t>(collective.rank);
    rows_[rank].collectives.push_back(collective);
    communication_[rank].push_back({collective.start_ns, collective.end_ns});
  }
  for (const auto& ready : batch.unit_ready) {
    if (ready.time_ns < INT64_MAX && touches(ready.rank, ready.time_ns, ready.time_ns + 1)) {
      rows_[static_cast<std::size_t>(ready.rank)].unit_ready.push_back(ready);
    }
  }
  for (const auto& ready : batch.bucket_ready) {
    if (ready.time_ns < INT64_MAX && touches(ready.rank, ready.time_ns, ready.time_ns + 1)) {
      rows_[static_cast<std::size_t>(ready.rank)].ready.push_back(ready);
    }
  }
}

void StepRowCollector::take_in(const EventRun& run) {
  for (const auto& event : run.events) {
    if (event.duration_ns < 0 || event.start_ns < 0 ||
        event.start_ns > INT64_MAX - event.duration_ns ||
        !touches(run.rank, event.start_ns, event.end_ns())) {
      continue;
    }
    const auto rank = static_cast<std::size_t>(run.rank);
    const Interval time{event.start_ns, event.end_ns()};
    switch (activity_of(run.kind, event, strings_.get(run.rank, event.name))) {
      case Activity::kCompute:
        rows_[rank].compute.push_back({time, event.name});
        break;
      case Activity::kCommunication:
        communication_[rank].push_back(time);
        break;
      case Activity::kCopy:
        copies_[rank].push_back(time);
        break;
      case Activity::kNone:
        break;
    }
  }
}

std::vector<StepRows> StepRowCollector::finish() && {
  for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
    auto& rows = rows_[rank];
    std::sort(rows.compute.begin(), rows.compute.end());
    std::vector<Interval> compute;
    for (const auto& piece : rows.compute) compute.push_back(piece.time);
    rows.compute_union = normalize(std::move(compute));
    rows.communication = normalize(std::move(communication_[rank]));
    rows.copies = normalize(std::move(copies_[rank]));
    std::sort(rows.phases.begin(), rows.phases.end());
    std::sort(rows.spans.begin(), rows.spans.end(), [](const Span& a, const Span& b) {
      return std::tie(a.start_ns, a.depth, a.end_ns) < std::tie(b.start_ns, b.depth, b.end_ns);
    });
    std::sort(rows.collectives.begin(), rows.collectives.end(),
              [](const Collective& a, const Collective& b) {
                return std::tie(a.start_ns, a.process_group, a.sequence) <
                       std::tie(b.start_ns, b.process_group, b.sequence);
              });
    std::sort(rows.unit_ready.begin(), rows.unit_ready.end(), [](const auto& a, const auto& b) {
      return std::tie(a.time_ns, a.unit) < std::tie(b.time_ns, b.unit);
    });
    std::sort(rows.ready.begin(), rows.ready.end(), [](const auto& a, const auto& b) {
      return std::tie(a.time_ns, a.bucket) < std::tie(b.time_ns, b.bucket);
    });
  }
  return std::move(rows_);
}

}  // namespace shardlens::trace
