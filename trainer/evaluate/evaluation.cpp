#include "trainer/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer::evaluate {

namespace {

enum Sum { kLoss, kRight, kTargets, kSequences, kSums };

// This rank's samples of its batch `index`; ranks take turns. Empty: it has run out.
std::vector<std::int64_t> samples_of(std::int64_t index, std::int64_t first, std::int64_t samples,
                                     const comm::Communicator& communicator,
                                     std::int64_t batch_size) {
  std::vector<std::int64_t> batch;
  for (std::int64_t row = 0; row < batch_size; ++row) {
    const std::int64_t sample =
        (index * batch_size + row) * communicator.world_size() + communicator.rank();
    if (sample < samples) batch.push_back(first + sample);
  }
  return batch;
}

model::TokenBatch on_device(model::TokenBatch batch, torch::Device device) {
  batch.inputs = batch.inputs.to(device);
  batch.targets = batch.targets.to(device);
  if (batch.attention_mask.defined()) batch.attention_mask = batch.attention_mask.to(device);
  return batch;
}

}  // namespace

Evaluation evaluate(model::Model& model, strategy::Strategy& strategy,
                    const data::TokenDataset& dataset, comm::Communicator& communicator,
                    profiler::recorder::Recorder& recorder, const EvaluationOptions& options) {
  const torch::NoGradGuard no_grad;
  model.eval();
  const std::int64_t samples = dataset.evaluation_samples();
  const std::int64_t of_all_ranks = options.batch_size * communicator.world_size();
  std::int64_t batches = (samples + of_all_ranks - 1) / of_all_ranks;
  if (options.most_batches > 0) batches = std::min(batches, options.most_batches);
  const auto sums = torch::zeros({kSums}, torch::dtype(torch::kFloat64).device(options.device));
  for (std::int64_t index = 0; index < batches; ++index) {
    const auto mine =
        samples_of(index, dataset.training_samples(), samples, communicator, options.batch_size);
    // Sharded parameters are gathered by all ranks, or none of them goes on.
    const model::TokenBatch batch =
        on_device(mine.empty() ? dataset.stand_in() : dataset.batch(mine), options.device);
    strategy.before_evaluation();
    const tensor::AutocastScope autocast(options.device.type(), options.compute_type);
    sums.narrow(0, kLoss, 2).add_(model.score(batch, options.loss_chunks));
    sums[kTargets].add_(static_cast<double>(batch.counted_targets));
    sums[kSequences].add_(static_cast<double>(mine.size()));
    recorder.progress();
  }
  strategy.after_evaluation();
  model.train();
  communicator.all_reduce(sums, comm::named_tag("evaluation loss"))->wait();
  const torch::Tensor result = sums.cpu();
  const auto* values = result.const_data_ptr<double>();
  Evaluation evaluation;
  evaluation.loss = values[kLoss] / values[kTargets];
  evaluation.perplexity = dataset.is_classification() ? std::numeric_limits<double>::quiet_NaN()
                                                      : std::exp(evaluation.loss);
  evaluation.accuracy = values[kRight] / values[kTargets];
  evaluation.targets = static_cast<std::int64_t>(values[kTargets]);
  evaluation.sequences = static_cast<std::int64_t>(values[kSequences]);
  return evaluation;
}

}  // namespace shardlens::trainer::evaluate
