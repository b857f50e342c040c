// What is predicted of a change, in words. Free of ImGui; any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/tuning/prediction.h"

namespace shardlens::ui::present {

std::string change_text(const trace::tuning::Change& change);  // "bucket_cap_mb=4"
// "+4.2 ms ± 1.6" of the step; "no change".
std::string difference_text(const trace::tuning::Prediction& prediction);
// The chain of events that ends backward, as a sentence; "" where there are no buckets.
std::string bound_text(const trace::predict::DdpSchedule& schedule, std::int64_t step_start_ns);
// What it assumes, a sentence each.
std::vector<std::string> assumptions(const trace::tuning::Prediction& prediction);

}  // namespace shardlens::ui::present
