#include "trainer/evaluation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/autocast_scope.h"

namespace shardlens::trainer {

Evaluation evaluate(Model& model, Strategy& strategy, const BlockDataset& dataset,
                    Communicator& communicator, profiler::Recorder& recorder,
                    const EvaluationOptions& options) {
  const torch::NoGradGuard no_grad;
  model.eval();
  const std::int64_t ranks = communicator.world_size();
  const auto blocks =
      std::min(dataset.evaluation_blocks(), kMaxEvaluationBatches * options.batch_size * ranks);
  // Sum of losses and number of sequences: ranks may have a different number of them.
  const auto sums = torch::zeros({2}, torch::dtype(torch::kFloat64).device(options.device));
  std::vector<std::int64_t> batch;
  auto add_batch = [&] {
    if (batch.empty()) return;
    TokenBatch tokens = dataset.batch(batch);
    tokens.inputs = tokens.inputs.to(options.device);
    tokens.targets = tokens.targets.to(options.device);
    strategy.before_evaluation();
    const AutocastScope autocast(options.device.type(), options.compute_type);
    const auto loss =
        model.loss(tokens, static_cast<double>(tokens.counted_targets), options.loss_chunks);
    sums[0].add_(loss.to(torch::kFloat64), static_cast<double>(batch.size()));
    sums[1].add_(static_cast<double>(batch.size()));
    batch.clear();
    recorder.progress();
  };
  for (std::int64_t block = communicator.rank(); block < blocks; block += ranks) {
    batch.push_back(dataset.training_blocks() + block);
    if (static_cast<std::int64_t>(batch.size()) == options.batch_size) add_batch();
  }
  add_batch();
  strategy.after_evaluation();
  model.train();
  communicator.all_reduce(sums, {trace::TagKind::kNamed, -1, "evaluation loss"})->wait();
  const torch::Tensor result = sums.cpu();
  const auto* values = result.const_data_ptr<double>();
  const double loss = values[0] / values[1];
  return {loss, std::exp(loss), static_cast<std::int64_t>(values[1])};
}

}  // namespace shardlens::trainer
