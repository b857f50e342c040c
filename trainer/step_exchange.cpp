#include "trainer/step_exchange.h"

#include <string>

namespace shardlens::trainer {

namespace {

constexpr int kFixed = 2;  // slots that all ranks add to

// A skipped step is the scaler's work, not a failure.
torch::Tensor has_failed(const StepReport& report) {
  const torch::Tensor is_bad = at::isfinite(report.gradient_norm).logical_not();
  if (!report.overflowed.defined()) return is_bad;
  return is_bad.logical_and(report.overflowed.to(is_bad.device()).eq(0));
}

// Only this rank's, read together with what all ranks share: whoever reads waits for the device.
torch::Tensor own_figures(const StepReport& report, const torch::TensorOptions& options) {
  const torch::Tensor own = torch::zeros({3}, options);
  own[0].copy_(report.gradient_norm);
  if (report.overflowed.defined()) {
    own[1].copy_(report.overflowed);
    own[2].copy_(report.skipped_steps);
  }
  return own;
}

}  // namespace

StepAgreement exchange_step(Communicator& communicator, const StepReport& report) {
  const torch::NoGradGuard no_grad;
  const int ranks = communicator.world_size();
  // loss, number of ranks that were asked to stop, and one slot per rank for a loss and one for a
  // norm gone bad: a sum with a NaN in it would not say whose it was.
  const torch::Tensor shared = torch::zeros(
      {kFixed + 2 * ranks}, report.loss.options().dtype(torch::kFloat64).requires_grad(false));
  shared[0].copy_(report.loss);
  shared[1].fill_(report.stop ? 1.0 : 0.0);
  shared[kFixed + communicator.rank()].copy_(at::isfinite(report.loss).logical_not());
  shared[kFixed + ranks + communicator.rank()].copy_(has_failed(report));
  communicator.all_reduce(shared, {trace::TagKind::kNamed, -1, "loss"})->wait();

  const torch::Tensor result = at::cat({own_figures(report, shared.options()), shared}).cpu();
  const auto* own = result.const_data_ptr<double>();
  const auto* values = own + 3;
  StepAgreement agreement;
  agreement.skipped = own[1] > 0;
  agreement.skipped_steps = static_cast<std::int64_t>(own[2]);
  if (!agreement.skipped) agreement.gradient_norm = own[0];
  agreement.loss = values[0] / ranks;
  agreement.stop = values[1] > 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (values[kFixed + rank] > 0) agreement.bad_ranks.push_back(rank);
    if (values[kFixed + ranks + rank] > 0) agreement.bad_norms.push_back(rank);
  }
  return agreement;
}

trace::Result<void> check_equal_on_all_ranks(Communicator& communicator, torch::Device device,
                                             std::vector<std::int64_t> values,
                                             const std::string& what) {
  // The maximum of a value and of its negative agree only if all ranks have the same.
  const auto count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  const torch::Tensor shared = torch::tensor(values, torch::kLong).to(device);
  communicator
      .all_reduce(shared, {trace::TagKind::kNamed, -1, what + " check"}, c10d::ReduceOp::MAX)
      ->wait();
  const torch::Tensor result = shared.cpu();
  const auto* maxima = result.const_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < count; ++i) {
    if (maxima[i] == -maxima[count + i]) continue;
    return trace::fail(trace::ErrorKind::kFailed,
                       "The ranks do not see the same " + what +
                           ". Give every rank the same settings and the same files, and do not "
                           "change them while a run starts.");
  }
  return {};
}

}  // namespace shardlens::trainer
