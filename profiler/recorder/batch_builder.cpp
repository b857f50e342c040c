#include "profiler/recorder/batch_builder.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "trace/store/chunk/event_order.h"

namespace shardlens::profiler {
namespace {

constexpr std::int64_t kLongWaitNs = 1'000'000'000;

struct RowSorter {
  trace::Batch& batch;
  CollectiveJoin& join;
  CapturedCollectives& captured;
  std::int64_t now_ns;

  void operator()(const trace::Step& row) const { batch.steps.push_back(row); }
  void operator()(const trace::Span& row) const { batch.spans.push_back(row); }
  void operator()(const trace::BucketReady& row) const { batch.bucket_ready.push_back(row); }
  void operator()(const trace::UnitReady& row) const { batch.unit_ready.push_back(row); }
  void operator()(const trace::Evaluation& row) const { batch.evaluations.push_back(row); }
  void operator()(const trace::MemorySample& row) const { batch.memory.push_back(row); }
  void operator()(const trace::CounterSample& row) const { batch.counters.push_back(row); }
  void operator()(const CollectiveEntered& part) const { join.add(part, now_ns); }
  void operator()(const CollectiveStarted& part) const { join.add(part, now_ns); }
  void operator()(const CollectiveEnded& part) const { join.add(part, now_ns); }
  void operator()(const CollectiveLaunched& part) const { join.add(part, now_ns); }
  void operator()(const LaunchEnded& part) const { join.add(part, now_ns); }
  void operator()(const CollectiveObserved& part) const { join.add(part, now_ns); }
  void operator()(const CollectiveCaptured& part) const { captured.add(part); }
  void operator()(const CapturedLaunched& part) const { captured.add(part); }
  void operator()(const CollectiveReplay& part) const { captured.add(part, now_ns); }
};

// Operators are reported when they end, children before parents; a run is ordered by start, parents
// first where both start at once.
bool starts_earlier(const trace::Event& a, const trace::Event& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
  return a.depth() < b.depth();
}

bool waits_long(const std::vector<trace::PendingCollective>& pending, std::int64_t now_ns) {
  return std::ranges::any_of(pending, [now_ns](const trace::PendingCollective& row) {
    return now_ns - row.enqueued_ns > kLongWaitNs;
  });
}

}  // namespace

BatchBuilder::Drained BatchBuilder::drain(const std::vector<ThreadQueues*>& queues,
                                          std::int64_t now_ns, bool stands_still) {
  Drained drained;
  for (ThreadQueues* thread : queues) drain_rows(*thread, now_ns, drained.batch);
  drained.events = drain_events(queues, drained.batch);
  for (ThreadQueues* thread : queues) {
    drained.lost_events += thread->events.take_lost();
    drained.lost_rows += thread->rows.take_lost();
  }
  auto finished = join_.take_finished(now_ns);
  drained.undetailed = finished.undetailed;
  drained.batch.collectives = std::move(finished.collectives);
  std::ranges::move(captured_.take_finished(now_ns), std::back_inserter(drained.batch.collectives));
  drained.events += static_cast<std::int64_t>(drained.batch.collectives.size());
  drained.incomplete = join_.drop_incomplete(now_ns);
  drained.batch.pending = join_.pending();
  if (stands_still || is_last_ || waits_long(*drained.batch.pending, now_ns)) {
    std::ranges::move(join_.latest_undetailed(), std::back_inserter(*drained.batch.pending));
  }
  return drained;
}

void BatchBuilder::drain_rows(ThreadQueues& queues, std::int64_t now_ns, trace::Batch& batch) {
  queues.rows.drain([&](const RowRecord& record) {
    std::visit(RowSorter{batch, join_, captured_, now_ns}, record);
  });
}

std::int64_t BatchBuilder::drain_events(const std::vector<ThreadQueues*>& queues,
                                        trace::Batch& batch) {
  std::size_t count = 0;
  for (ThreadQueues* thread : queues) {
    // Neighbours nearly always share lane and kind: one look-up serves many.
    std::vector<trace::Event>* run = nullptr;
    std::pair<int, trace::EventKind> key{};
    const std::size_t waiting = thread->events.size();
    count += thread->events.drain([&](const EventRecord& record) {
      if (const std::pair next{record.lane, record.kind}; run == nullptr || next != key) {
        key = next;
        run = &runs_[key];
        // Growing would copy, and meet page faults twice.
        if (run->empty()) run->reserve(waiting);
      }
      run->push_back(record.event);
    });
  }
  for (auto& [key, events] : runs_) {
    if (events.empty()) continue;
    trace::order_events(events, starts_earlier);
    batch.events.push_back({rank_, key.first, key.second, std::move(events)});
    events = {};
  }
  return static_cast<std::int64_t>(count);
}

}  // namespace shardlens::profiler
