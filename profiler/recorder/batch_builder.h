// Turns what the queues hold into batches for the writer. The recorder's thread only.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profiler/collective/captured_collectives.h"
#include "profiler/collective/collective_join.h"
#include "profiler/queue/thread_queues.h"
#include "trace/model/batch.h"

namespace shardlens::profiler::recorder {

class BatchBuilder {
 public:
  // `has_detail`: as of CollectiveJoin.
  explicit BatchBuilder(int rank, collective::CollectiveJoin::HasDetail has_detail = nullptr)
      : rank_(rank), join_(rank, std::move(has_detail)), captured_(rank) {}

  // Rows first, events second: so an event that ended before a step did is in the same batch as its
  // step, or in an earlier one.
  struct Drained {
    trace::model::Batch batch;
    std::int64_t events = 0;       // bulk events and collectives
    std::int64_t lost_events = 0;  // found their queue full
    std::int64_t lost_rows = 0;
    std::int64_t incomplete = 0;  // collectives that lost a part
    std::int64_t undetailed = 0;  // collectives that ended without detail
  };
  // Where a collective has been pending for more than a second, or `stands_still`, and at the end,
  // the batch also has the latest completed one, even if the schedule leaves it out.
  Drained drain(const std::vector<queue::ThreadQueues*>& queues, std::int64_t now_ns,
                bool stands_still);
  // No kernel will be reported any more: the next drain gives what still waits for one.
  void stop_waiting() {
    join_.stop_waiting();
    is_last_ = true;
  }

 private:
  void drain_rows(queue::ThreadQueues& queues, std::int64_t now_ns, trace::model::Batch& batch);
  std::int64_t drain_events(const std::vector<queue::ThreadQueues*>& queues,
                            trace::model::Batch& batch);

  const int rank_;
  bool is_last_ = false;  // the next drain, after which nothing tells how far the rank came
  collective::CollectiveJoin join_;
  collective::CapturedCollectives captured_;
  std::map<std::pair<int, trace::model::EventKind>, std::vector<trace::model::Event>> runs_;
};

}  // namespace shardlens::profiler::recorder
