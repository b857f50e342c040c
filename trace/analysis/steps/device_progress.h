// Until when all that a rank's GPU did has been read, and how its records end: the one rule by
// which steps lack detail and ribbons are empty. Those records come long after the host's, as many
// as fill a buffer at once. One owner; device_records() any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "trace/model/events.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::analysis {

// Of a rank that works on a GPU. While records go on, more are awaited; where they broke off, none
// are to come, and beyond the last it is not known what the GPU did.
enum class DeviceRecords : std::uint8_t { kNone, kGoOn, kHaveEnded, kBrokeOff };

// `device`: "cuda:0"; `is_closed`: the rank's file says so, see model::kClosedInOrder; `status`: of
// its run; `more_follows`: of that run is still to be read, or to be recorded.
DeviceRecords device_records(std::string_view device, bool is_closed, model::RunStatus status,
                             bool more_follows);

class DeviceProgress {
 public:
  // What a lane holds is written as bulk events and as rows, which need not come together.
  enum class Source : std::uint8_t { kEvents, kCollectives };

  void add(Source source, int lane, std::int64_t end_ns);
  void add(const model::Step& step);  // whose times are plausible
  // After all that was committed together. The lanes' records are in order, so that everything up
  // to the end of the one that is behind is there; one in which nothing has ended for two steps, in
  // each of which it has something to do, holds back nothing. The recorder commits ten times a
  // second what comes together, so that while records go on, more of a lane may be about to come.
  void settle(DeviceRecords records);

  std::int64_t until_ns() const { return until_ns_; }  // only grows; INT64_MIN: nothing came
  // until_ns(), or the end of all steps where no step with details lies behind it.
  std::int64_t steps_known_until_ns() const;

 private:
  std::map<std::pair<Source, int>, std::int64_t> ends_;
  std::int64_t step_ns_ = 0;  // of the latest step
  std::int64_t steps_end_ns_ = INT64_MIN, detailed_end_ns_ = INT64_MIN;
  std::int64_t until_ns_ = INT64_MIN;
};

}  // namespace shardlens::trace::analysis
