// How replicas start out equal. The training thread.
#pragma once

#include <torch/types.h>

#include <vector>

#include "trainer/comm/communicator.h"

namespace shardlens::trainer::strategy {

// All ranks get rank 0's values. Their lists are alike, and may be empty: a model that each rank
// reads from its folder may have no value that the others lack. Throws c10::Error.
void broadcast_initial_values(comm::Communicator& world, const std::vector<torch::Tensor>& values);

}  // namespace shardlens::trainer::strategy
