#include "profiler/recorder/unqueued_rows.h"

#include <iterator>
#include <utility>

namespace shardlens::profiler::recorder {
namespace {

template <typename T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

}  // namespace

int UnqueuedRows::add_lane(trace::model::LaneKind kind, trace::model::StringId name) {
  const std::lock_guard lock(mutex_);
  rows_.lanes.push_back({rank_, lanes_, kind, name});
  return lanes_++;
}

void UnqueuedRows::set_lane_of_thread(std::uint32_t thread, int lane) {
  const std::lock_guard lock(mutex_);
  lanes_of_threads_[thread] = lane;
}

std::optional<int> UnqueuedRows::lane_of_thread(std::uint32_t thread) const {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_of_threads_.find(thread);
  return found == lanes_of_threads_.end() ? std::nullopt : std::optional(found->second);
}

void UnqueuedRows::add_process_group(trace::model::ProcessGroup group) {
  group.rank = rank_;
  const std::lock_guard lock(mutex_);
  rows_.process_groups.push_back(std::move(group));
}

void UnqueuedRows::add_buckets(std::vector<trace::model::Bucket> buckets) {
  for (trace::model::Bucket& bucket : buckets) bucket.rank = rank_;
  const std::lock_guard lock(mutex_);
  move_all(buckets, rows_.buckets);
}

void UnqueuedRows::add_units(std::vector<trace::model::Unit> units,
                             std::vector<trace::model::UnitParameter> parameters) {
  for (trace::model::Unit& unit : units) unit.rank = rank_;
  for (trace::model::UnitParameter& parameter : parameters) parameter.rank = rank_;
  const std::lock_guard lock(mutex_);
  move_all(units, rows_.units);
  move_all(parameters, rows_.unit_parameters);
}

void UnqueuedRows::add_log(trace::model::LogLine line) {
  line.rank = rank_;
  const std::lock_guard lock(mutex_);
  rows_.log.push_back(std::move(line));
}

void UnqueuedRows::add_events(trace::model::EventRun run) {
  const std::lock_guard lock(mutex_);
  rows_.events.push_back(std::move(run));
}

void UnqueuedRows::add_lost(std::string_view reason, std::int64_t count) {
  if (count <= 0) return;
  const std::lock_guard lock(mutex_);
  lost_total_ += count;
  const auto found = lost_.find(reason);
  if (found == lost_.end())
    lost_.emplace(reason, count);
  else
    found->second += count;
}

void UnqueuedRows::update_rank_info(const std::function<void(trace::model::RankInfo&)>& change) {
  const std::lock_guard lock(mutex_);
  change(rank_info_);
  rows_.rank_info = rank_info_;
}

std::int64_t UnqueuedRows::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_total_;
}

void UnqueuedRows::take(trace::model::Batch& batch) {
  const std::lock_guard lock(mutex_);
  move_all(rows_.lanes, batch.lanes);
  move_all(rows_.process_groups, batch.process_groups);
  move_all(rows_.buckets, batch.buckets);
  move_all(rows_.units, batch.units);
  move_all(rows_.unit_parameters, batch.unit_parameters);
  move_all(rows_.log, batch.log);
  move_all(rows_.events, batch.events);
  if (rows_.rank_info) batch.rank_info = std::exchange(rows_.rank_info, std::nullopt);
  for (auto& [reason, count] : lost_) batch.lost.push_back({rank_, reason, count});
  lost_.clear();
}

}  // namespace shardlens::profiler::recorder
