// Where ranks find each other: a file of this run, or torchrun's store. Called by connect(),
// or before by a rank that has to tell something.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/comm/communicator.h"

namespace shardlens::trainer::comm {

// How long a rank waits for the others to start.
inline constexpr std::chrono::seconds kConnectTimeout{120};

// Throws c10::Error when the store cannot be reached within `patience`.
c10::intrusive_ptr<c10d::Store> meet(const CommunicatorOptions& options,
                                     std::chrono::seconds patience = kConnectTimeout);

}  // namespace shardlens::trainer::comm
