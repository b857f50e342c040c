// The machine a figure was measured on. Any thread.
#pragma once

#include <string>

#include "app/report/report_json.h"

namespace shardlens::app::cli {

// {"cpu", "cores", "memory_bytes", "gpus": […], "system"}
report::Json describe_machine();
// "Intel Xeon …, 2 cores, 7.8 GiB; no GPU; Linux 6.1"
std::string machine_text(const report::Json& machine);

}  // namespace shardlens::app::cli
