// What rows are called, in words that users of PyTorch and of GPU profilers know. Pure functions,
// any thread.
#pragma once

#include <string>
#include <string_view>

#include "trace/timeline/values/row_content.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::timeline {

std::string_view kind_name(RowKind kind);  // "Kernels"

// Of a row that shows a lane: "Operators", "Compute stream 7", "All-gather · shard". The lane's
// name is part of it where the rank has several of the kind.
std::string lane_label(const RankContent& rank, const LaneContent& lane, RowKind kind);

// The lane with the operators of the thread that has most phases, where their names tell; −1: they
// do not.
int main_thread_lane(const RankContent& rank);

// "All-reduce" of all_reduce.
std::string collective_title(model::CollectiveFunction function);

}  // namespace shardlens::trace::timeline
