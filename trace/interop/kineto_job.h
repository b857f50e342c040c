// What a Kineto trace says of its job outside its events: rank, process groups, device. Any thread.
#pragma once

#include <string_view>

#include "trace/interop/kineto_rank.h"

namespace shardlens::trace::interop {

// Takes in the member `key` of the trace's top level; `text` is its JSON. Unknown ones and those of
// another form change nothing.
void take_in_member(KinetoJob& job, std::string_view key, std::string_view text);

}  // namespace shardlens::trace::interop
