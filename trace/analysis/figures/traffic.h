// See trace/model/traffic.h.
#pragma once

#include "trace/model/traffic.h"

namespace shardlens::trace::analysis {

using model::bus_factor;
using model::sent_factor;

}  // namespace shardlens::trace::analysis
