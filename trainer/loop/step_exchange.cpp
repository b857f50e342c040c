#include "trainer/loop/step_exchange.h"

#include <cmath>
#include <numeric>
#include <span>
#include <string>

namespace shardlens::trainer::loop {

namespace {

// What only this rank knows, read together with what all share: whoever reads waits for the device.
constexpr int kOwn = 2;
torch::Tensor with_own_figures(const torch::Tensor& shared, const StepReport& report) {
  if (!report.overflowed.defined()) return at::constant_pad_nd(shared.cpu(), {kOwn, 0});
  const torch::Tensor own = torch::zeros({kOwn}, shared.options());
  own[0].copy_(report.overflowed);
  own[1].copy_(report.skipped_steps);
  return at::cat({own, shared}).cpu();
}

std::vector<int> ranks_with_bad(std::span<const double> values) {
  std::vector<int> bad;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    if (!std::isfinite(values[rank])) bad.push_back(static_cast<int>(rank));
  }
  return bad;
}

}  // namespace

StepAgreement exchange_step(comm::Communicator& communicator, const StepReport& report) {
  const torch::NoGradGuard no_grad;
  const auto ranks = static_cast<std::size_t>(communicator.world_size());
  // The number of ranks that were asked to stop, and for each rank a slot for its loss and one for
  // its norm to which all others add nothing: a sum with a NaN in it would not say whose it was.
  const torch::Tensor shared =
      torch::zeros({1 + 2 * communicator.world_size()},
                   report.loss.options().dtype(torch::kFloat64).requires_grad(false));
  if (report.stop) shared[0].fill_(1.0);
  shared[1 + communicator.rank()].copy_(report.loss);
  shared[1 + communicator.world_size() + communicator.rank()].copy_(report.gradient_norm);
  communicator.all_reduce(shared, comm::named_tag("loss"))->wait();

  const torch::Tensor result = with_own_figures(shared, report);
  const std::span values(result.const_data_ptr<double>(), kOwn + 1 + 2 * ranks);
  const auto losses = values.subspan(kOwn + 1, ranks);
  const auto norms = values.subspan(kOwn + 1 + ranks, ranks);
  StepAgreement agreement;
  agreement.skipped = values[0] > 0;
  agreement.skipped_steps = static_cast<std::int64_t>(values[1]);
  agreement.stop = values[kOwn] > 0;
  agreement.loss = std::reduce(losses.begin(), losses.end()) / static_cast<double>(ranks);
  agreement.bad_ranks = ranks_with_bad(losses);
  // A skipped step is the scaler's work, not a failure.
  if (!agreement.skipped) {
    agreement.gradient_norm = norms[static_cast<std::size_t>(communicator.rank())];
    agreement.bad_norms = ranks_with_bad(norms);
  }
  return agreement;
}

trace::base::Result<void> check_equal_on_all_ranks(comm::Communicator& communicator,
                                                   torch::Device device,
                                                   std::vector<std::int64_t> values,
                                                   const std::string& what) {
  // The maximum of a value and of its negative agree only if all ranks have the same.
  const auto count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  const torch::Tensor shared = torch::tensor(values, torch::kLong).to(device);
  communicator.all_reduce(shared, comm::named_tag(what + " check"), c10d::ReduceOp::MAX)->wait();
  const torch::Tensor result = shared.cpu();
  const auto* maxima = result.const_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < count; ++i) {
    if (maxima[i] == -maxima[count + i]) continue;
    return trace::base::fail(
        trace::base::ErrorKind::kFailed,
        "The ranks do not see the same " + what +
            ". Give every rank the same settings and the same files, and do not "
            "change them while a run starts.");
  }
  return {};
}

}  // namespace shardlens::trainer::loop
