// Where ranks find each other: a file of this run, or torchrun's store. Called once, by connect()
// or a rank that has to tell something before.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/comm/communicator.h"

namespace shardlens::trainer::comm {

// How long a rank waits for the others to start.
inline constexpr std::chrono::seconds kConnectTimeout{120};

// Throws c10::Error when the store cannot be reached within kConnectTimeout.
c10::intrusive_ptr<c10d::Store> meet(const CommunicatorOptions& options);

}  // namespace shardlens::trainer::comm
