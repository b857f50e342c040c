// What travels between recorder, writer, reader and analysis: some rows of every table. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::model {

// All rows of one batch come from one rank file; within a table they are in order of writing.
// A string id is defined in the batch that first uses it, or before.
struct Batch {
  std::vector<InternedString> strings;
  std::vector<Lane> lanes;
  std::vector<ProcessGroup> process_groups;
  std::vector<Step> steps;
  std::vector<Span> spans;
  std::vector<Collective> collectives;
  std::vector<Bucket> buckets;
  std::vector<BucketReady> bucket_ready;
  std::vector<MemorySample> memory;
  std::vector<CounterSample> counters;
  std::vector<EventRun> events;
  std::vector<LogLine> log;
  std::vector<Lost> lost;
  std::vector<Unit> units;
  std::vector<UnitParameter> unit_parameters;
  std::vector<UnitReady> unit_ready;
  std::vector<Evaluation> evaluations;

  // The present: each replaces what was there for its rank.
  std::optional<std::vector<PendingCollective>> pending;
  std::optional<Heartbeat> heartbeat;
  std::optional<RecorderCost> cost;
  std::optional<RankInfo> rank_info;

  bool empty() const;
};

// Of the bulk kinds.
std::int64_t count_events(const Batch& batch);

}  // namespace shardlens::trace::model
