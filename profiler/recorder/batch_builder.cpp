#include "profiler/recorder/batch_builder.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "trace/store/chunk/event_order.h"

namespace shardlens::profiler::recorder {
namespace {

constexpr std::int64_t kLongWaitNs = 1'000'000'000;

struct RowSorter {
  trace::model::Batch& batch;
  collective::CollectiveJoin& join;
  collective::CapturedCollectives& captured;
  std::int64_t now_ns;

  void operator()(const trace::model::Step& row) const { batch.steps.push_back(row); }
  void operator()(const trace::model::Span& row) const { batch.spans.push_back(row); }
  void operator()(const trace::model::BucketReady& row) const { batch.bucket_ready.push_back(row); }
  void operator()(const trace::model::UnitReady& row) const { batch.unit_ready.push_back(row); }
  void operator()(const trace::model::Evaluation& row) const { batch.evaluations.push_back(row); }
  void operator()(const trace::model::MemorySample& row) const { batch.memory.push_back(row); }
  void operator()(const trace::model::CounterSample& row) const { batch.counters.push_back(row); }
  void operator()(const queue::CollectiveEntered& part) const { join.add(part, now_ns); }
  void operator()(const queue::CollectiveStarted& part) const { join.add(part, now_ns); }
  void operator()(const queue::CollectiveEnded& part) const { join.add(part, now_ns); }
  void operator()(const queue::CollectiveLaunched& part) const { join.add(part, now_ns); }
  void operator()(const queue::LaunchEnded& part) const { join.add(part, now_ns); }
  void operator()(const queue::CollectiveObserved& part) const { join.add(part, now_ns); }
  void operator()(const queue::CollectiveCaptured& part) const { captured.add(part); }
  void operator()(const queue::CapturedLaunched& part) const { captured.add(part); }
  void operator()(const queue::CollectiveReplay& part) const { captured.add(part, now_ns); }
};

// Operators are reported when they end, children before parents; a run is ordered by start, parents
// first where both start at once.
bool starts_earlier(const trace::model::Event& a, const trace::model::Event& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
  return a.depth() < b.depth();
}

bool waits_long(const std::vector<trace::model::PendingCollective>& pending, std::int64_t now_ns) {
  return std::ranges::any_of(pending, [now_ns](const trace::model::PendingCollective& row) {
    return now_ns - row.enqueued_ns > kLongWaitNs;
  });
}

}  // namespace

BatchBuilder::Drained BatchBuilder::drain(const std::vector<queue::ThreadQueues*>& queues,
                                          std::int64_t now_ns, bool stands_still) {
  Drained drained;
  for (queue::ThreadQueues* thread : queues) drain_rows(*thread, now_ns, drained.batch);
  drained.events = drain_events(queues, drained.batch);
  for (queue::ThreadQueues* thread : queues) {
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

void BatchBuilder::drain_rows(queue::ThreadQueues& queues, std::int64_t now_ns,
                              trace::model::Batch& batch) {
  queues.rows.drain([&](const queue::RowRecord& record) {
    std::visit(RowSorter{batch, join_, captured_, now_ns}, record);
  });
}

std::int64_t BatchBuilder::drain_events(const std::vector<queue::ThreadQueues*>& queues,
                                        trace::model::Batch& batch) {
  std::size_t count = 0;
  for (queue::ThreadQueues* thread : queues) {
    // Neighbours nearly always share lane and kind: one look-up serves many.
    std::vector<trace::model::Event>* run = nullptr;
    std::pair<int, trace::model::EventKind> key{};
    const std::size_t waiting = thread->events.size();
    count += thread->events.drain([&](const queue::EventRecord& record) {
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
    trace::store::order_events(events, starts_earlier);
    batch.events.push_back({rank_, key.first, key.second, std::move(events)});
    events = {};
  }
  return static_cast<std::int64_t>(count);
}

}  // namespace shardlens::profiler::recorder
