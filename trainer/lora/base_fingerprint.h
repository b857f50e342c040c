// Tells whether a checkpoint of adapters goes on with the base model it was made with. The training
// thread; all ranks call it. Throws c10::Error when the collective fails.
#pragma once

#include <span>
#include <string>

#include "trainer/comm/communicator.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::lora {

// Of the bits of all frozen values, as they are kept: the same for every strategy and number of
// ranks, another for another model, seed or `base_dtype`. 16 hexadecimal digits.
std::string base_fingerprint(std::span<const strategy::LocalParameter> parameters,
                             comm::Communicator& communicator);

}  // namespace shardlens::trainer::lora
