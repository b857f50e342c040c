// Turns what LibTorch throws into an error that says what happened and what to do. Any thread.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "trace/model/events.h"
#include "trace/model/result.h"

namespace shardlens::trainer {

// `where`: "step 5, backward". Running out of memory and lost ranks are named as such.
trace::Error describe_failure(const std::exception& failure, const std::string& where);

std::string place_name(std::int64_t step, trace::Phase phase);

}  // namespace shardlens::trainer
