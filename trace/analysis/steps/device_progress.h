// Until when all that a rank's GPU did has been read. Its records come long after those of the
// host, as many as fill a buffer at once. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "trace/analysis/steps/device_records.h"

namespace shardlens::trace::analysis {

class DeviceProgress {
 public:
  // What a lane holds is written as bulk events and as rows, which need not come together.
  enum class Source : std::uint8_t { kEvents, kCollectives };

  void add(Source source, int lane, std::int64_t end_ns);
  // After all that was committed together. The lanes' records are in order, so that everything up
  // to the end of the one that is behind is there; one in which nothing has ended for `silence_ns`
  // holds back nothing.
  void settle(std::int64_t silence_ns);
  // Of a rank whose steps take so long: a lane that has something to do in every step is silent for
  // less than two of them. The recorder commits ten times a second what comes together, so that
  // while records go on, more of a lane may be about to come.
  static std::int64_t longest_silence_ns(std::int64_t step_ns, DeviceRecords records);

  std::int64_t until_ns() const { return until_ns_; }  // only grows; INT64_MIN: nothing came

 private:
  std::map<std::pair<Source, int>, std::int64_t> ends_;
  std::int64_t until_ns_ = INT64_MIN;
};

}  // namespace shardlens::trace::analysis
