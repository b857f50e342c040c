// What the ranks tell each other once per step, in one small all-reduce: the loss, whether somebody
// was asked to stop, and whose loss or gradient norm was not finite. The training thread.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "trainer/comm/communicator.h"

namespace shardlens::trainer {

struct StepAgreement {
  double loss = 0;             // mean over ranks, those without data left out
  bool stop = false;           // some rank was asked to
  std::vector<int> bad_ranks;  // whose own loss was not finite
  std::vector<int> bad_norms;  // ranks whose gradient norm was not finite
};

// `loss` is the sum of this rank's micro-batches' losses over their number, `data_share` the share
// of them for which it had data, `gradient_norm` what it measured after the
// gradients were reduced; both scalars on the rank's device. Throws if the collective fails.
StepAgreement exchange_step(Communicator& communicator, const torch::Tensor& loss,
                            double data_share, const torch::Tensor& gradient_norm, bool stop);

// Error kFailed: ranks disagree about one of `values`, `what` says about which thing: "the text".
trace::Result<void> check_equal_on_all_ranks(Communicator& communicator, torch::Device device,
                                             std::vector<std::int64_t> values,
                                             const std::string& what);

}  // namespace shardlens::trainer
