// What `pack` leaves of the texts that tell a machine or its people. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::model {

// What it calls a run's hosts, with a number behind it: "host-1".
inline constexpr std::string_view kPackedHost = "host-";
inline constexpr std::string_view kLeftOut = "…";

// "…/llama-1b" of a path from the root; what is none stays.
std::string packed_path(std::string_view text);
// A rank's `sources` without names of files.
std::string packed_sources(std::string_view sources);
// The first "<host>_<process>.<time>" in a text, as PyTorch calls traces unless told otherwise
// (tensorboard_trace_handler); "": there is none.
std::string_view untold_trace_name(std::string_view text);
// All that may be paths, so that a packed run's are those of its folder.
job::Settings packed_settings(job::Settings settings);
// Whether one of two texts is shortened, and may have been the other.
bool may_be_one(std::string_view a, std::string_view b);

}  // namespace shardlens::trace::model
