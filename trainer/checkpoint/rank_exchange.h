// Texts, and failures, that every rank tells all others. All ranks call the same functions in the
// same order, on their training threads. Throws c10::Error when a collective fails.
#pragma once

#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::checkpoint {

// What each rank gave, in their order. The same error on all ranks if any of them gave one: that of
// the lowest rank, which the message names.
trace::base::Result<std::vector<std::string>> exchange(comm::Communicator& communicator,
                                                       const trace::base::Result<std::string>& mine,
                                                       const std::string& tag);
trace::base::Result<void> agree(comm::Communicator& communicator,
                                const trace::base::Result<void>& mine, const std::string& tag);

}  // namespace shardlens::trainer::checkpoint
