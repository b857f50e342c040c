#include "trace/analysis/steps/device_records.h"

namespace shardlens::trace::analysis {

DeviceRecords device_records(std::string_view device, bool is_closed, model::RunStatus status,
                             bool more_follows) {
  if (!device.starts_with("cuda")) return DeviceRecords::kNone;
  // Imports, and what was recorded before files said so: all ranks of a run that is done have left
  // in order. Of one that was stopped some may have been killed.
  if (is_closed || (status == model::RunStatus::kDone && !more_follows)) {
    return DeviceRecords::kHaveEnded;
  }
  return more_follows ? DeviceRecords::kGoOn : DeviceRecords::kBrokeOff;
}

}  // namespace shardlens::trace::analysis
