// Where ranks on other machines reach this one. Any thread.
#pragma once

#include <string>

#include "trace/base/result.h"

namespace shardlens::trainer::comm {

// The address, as numbers, from which this machine would send to `host`; where that is this machine
// itself, from which it would send to other networks. Nothing is sent. Error kFailed: it reaches
// nobody but itself.
trace::base::Result<std::string> own_address_towards(const std::string& host);

}  // namespace shardlens::trainer::comm
