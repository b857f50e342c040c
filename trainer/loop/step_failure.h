// Turns what LibTorch throws into an error that says what happened and what to do. Any thread.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "trace/base/result.h"
#include "trace/model/events.h"

namespace shardlens::trainer::loop {

// `where`: "step 5, backward". Running out of memory and lost ranks are named as such.
// `explain_memory` adds what is known when memory ran out; it gets the exception's own words, and
// may return "".
using ExplainMemory = std::function<std::string(const std::string& message)>;
trace::base::Error describe_failure(const std::exception& failure, const std::string& where,
                                    const ExplainMemory& explain_memory = {});

std::string place_name(std::int64_t step, trace::base::Phase phase);

}  // namespace shardlens::trainer::loop
