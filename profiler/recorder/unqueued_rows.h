// Rows that come seldom and may be of any size: lanes, process groups, bucket plans, units, log,
// losses, events by the thousand. Any thread; locks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/batch.h"

namespace shardlens::profiler::recorder {

class UnqueuedRows {
 public:
  explicit UnqueuedRows(const trace::model::RankInfo& info) : rank_(info.rank), rank_info_(info) {
    rows_.rank_info = info;
  }

  int add_lane(trace::model::LaneKind kind, trace::model::StringId name);
  // By the lower half of its pthread_t.
  void set_lane_of_thread(std::uint32_t thread, int lane);
  std::optional<int> lane_of_thread(std::uint32_t thread) const;
  void add_process_group(trace::model::ProcessGroup group);
  void add_buckets(std::vector<trace::model::Bucket> buckets);
  void add_units(std::vector<trace::model::Unit> units,
                 std::vector<trace::model::UnitParameter> parameters);
  void add_log(trace::model::LogLine line);
  void add_events(trace::model::EventRun run);
  void add_lost(std::string_view reason, std::int64_t count);
  void update_rank_info(const std::function<void(trace::model::RankInfo&)>& change);

  std::int64_t lost() const;
  // Moves what was added since the last call into `batch`.
  void take(trace::model::Batch& batch);

 private:
  const int rank_;
  trace::model::RankInfo rank_info_;
  mutable std::mutex mutex_;
  int lanes_ = 0;
  std::map<std::uint32_t, int> lanes_of_threads_;
  std::int64_t lost_total_ = 0;
  std::map<std::string, std::int64_t, std::less<>> lost_;
  trace::model::Batch rows_;
};

}  // namespace shardlens::profiler::recorder
