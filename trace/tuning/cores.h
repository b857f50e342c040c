// How ranks share the cores of a machine. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::tuning {

// Of "Intel Xeon …, 2 cores", as a rank on a CPU names its device; none: it names no cores.
std::optional<std::int64_t> cores_named(std::string_view device_name);

// The share of a core's pace, or how many of them, that computes for one rank: its threads, or, if
// that is less, what is left of the cores when all ranks have as much. `settings`: as they act.
double cores_of_a_rank(const job::Settings& settings, std::int64_t cores);

}  // namespace shardlens::trace::tuning
