// The JSON documents of reports, keys in the order in which they were set. To make one or to look
// into it takes report_json.h. Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace shardlens::app::report {

using Json = nlohmann::ordered_json;

}  // namespace shardlens::app::report
