// How a rank's records of its GPU end: the one rule by which steps lack detail and ribbons are
// empty. Pure, any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/model/run_info.h"

namespace shardlens::trace::analysis {

// Of a rank that works on a GPU, whose records come late. While they go on, more are awaited; where
// they broke off, none are to come, and beyond the last it is not known what the GPU did.
enum class DeviceRecords : std::uint8_t { kNone, kGoOn, kHaveEnded, kBrokeOff };

// `device`: "cuda:0"; `is_closed`: the rank's file says so, see model::kClosedInOrder; `status`: of
// its run; `more_follows`: of that run is still to be read, or to be recorded.
DeviceRecords device_records(std::string_view device, bool is_closed, model::RunStatus status,
                             bool more_follows);

}  // namespace shardlens::trace::analysis
