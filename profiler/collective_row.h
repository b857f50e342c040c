// The row of a collective from what is told of it. Any thread.
#pragma once

#include <algorithm>

#include "profiler/records.h"
#include "trace/model/events.h"

namespace shardlens::profiler {

inline trace::Collective row_of(int rank, const CollectiveCall& call) {
  trace::Collective row;
  row.rank = rank;
  row.process_group = call.process_group;
  row.sequence = call.sequence;
  row.function = call.function;
  row.executed = call.executed;
  row.tag_kind = call.tag_kind;
  row.tag_index = call.tag_index;
  row.tag_name = call.tag_name;
  row.data_type = call.data_type;
  row.bytes = call.bytes;
  return row;
}

inline void set_launch(trace::Collective& row, const CollectiveLaunch& launch) {
  row.algorithm = launch.algorithm;
  row.protocol = launch.protocol;
  row.channels = launch.channels;
}

inline void set_times(trace::Collective& row, const CollectiveTimes& times) {
  row.lane = times.lane;
  row.start_ns = times.start_ns;
  row.end_ns = std::max(times.end_ns, times.start_ns);
}

}  // namespace shardlens::profiler
