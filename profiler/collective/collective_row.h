// The row of a collective from what is told of it. Any thread.
#pragma once

#include <algorithm>

#include "profiler/queue/records.h"
#include "trace/model/collective_fields.h"
#include "trace/model/events.h"

namespace shardlens::profiler::collective {

inline trace::model::Collective row_of(int rank, const queue::CollectiveCall& call) {
  trace::model::Collective row;
  row.rank = rank;
  trace::model::set_call(row, call);
  row.executed = call.executed;
  row.data_type = call.data_type;
  return row;
}

inline void set_launch(trace::model::Collective& row, const queue::CollectiveLaunch& launch) {
  row.algorithm = launch.algorithm;
  row.protocol = launch.protocol;
  row.channels = launch.channels;
}

inline void set_times(trace::model::Collective& row, const queue::CollectiveTimes& times) {
  row.lane = times.lane;
  row.start_ns = times.start_ns;
  row.end_ns = std::max(times.end_ns, times.start_ns);
}

}  // namespace shardlens::profiler::collective
