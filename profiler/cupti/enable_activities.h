// Which records CUPTI is asked for. Any thread, once per process.
#pragma once

#include <string>

#include "profiler/cupti/api/cupti_api.h"

namespace shardlens::profiler::cupti {

// All that must be or nothing; kFailed with the reason and a remedy. What is refused of the rest is
// given as text, "" if nothing was.
trace::base::Result<std::string> enable_activities(const CuptiApi& api,
                                                   CUpti_BuffersCallbackRequestFunc on_requested,
                                                   CUpti_BuffersCallbackCompleteFunc on_completed);

}  // namespace shardlens::profiler::cupti
