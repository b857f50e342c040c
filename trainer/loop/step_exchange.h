// What the ranks tell each other once per step, in one small all-reduce: the loss, whether somebody
// was asked to stop, and whose loss or gradient norm was not finite. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "trainer/comm/communicator.h"

namespace shardlens::trainer::loop {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What one rank knows of a step; tensors are scalars on its device.
struct StepReport {
  torch::Tensor loss;  // its sum over targets, divided by all ranks' number of them per rank
  torch::Tensor gradient_norm;  // as it measured it after the gradients were reduced
  torch::Tensor overflowed;     // 1: the update was skipped for overflow; undefined: never
  torch::Tensor skipped_steps;  // updates skipped so far; undefined: none
  bool stop = false;
};

struct StepAgreement {
  double loss = kUnknown;           // mean over the targets of all ranks
  double gradient_norm = kUnknown;  // this rank's; of a skipped update: not known
  bool stop = false;                // some rank was asked to
  bool skipped = false;             // this update, for overflow
  std::int64_t skipped_steps = 0;   // up to and with this one
  std::vector<int> bad_ranks;       // whose own loss was not finite
  std::vector<int> bad_norms;       // ranks whose gradient norm was not finite
};

// Waits for the device, once. Throws if the collective fails.
StepAgreement exchange_step(comm::Communicator& communicator, const StepReport& report);

// Error kFailed: ranks disagree about one of `values`, `what` says about which thing: "the text".
trace::base::Result<void> check_equal_on_all_ranks(comm::Communicator& communicator,
                                                   torch::Device device,
                                                   std::vector<std::int64_t> values,
                                                   const std::string& what);

}  // namespace shardlens::trainer::loop
