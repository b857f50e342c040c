// What the training loop does between steps: evaluations, samples, the best so far, the model.
#include <algorithm>

#include "trainer/loop/phase_mark.h"
#include "trainer/loop/train_loop.h"
#include "trainer/model/decoder_model.h"
#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer {

using trace::Phase;

trace::Result<void> TrainLoop::evaluate_if_due(std::int64_t step) {
  const auto every = parts_.settings.evaluate_every;
  if (every == 0 || (step + 1) % every != 0) return {};
  const Evaluation result = evaluate_after(step);
  report_evaluation(step, result);
  if (parts_.samples.is_on()) write_sample(step);
  return keep_if_best(step, result);
}

void TrainLoop::write_sample(std::int64_t step) {
  auto* model = dynamic_cast<DecoderModel*>(&parts_.model);
  if (model == nullptr) return;
  const PhaseMark mark(*this, step, Phase::kEvaluation);
  GenerationOptions options;
  options.tokens = parts_.settings.sample_tokens;
  options.temperature = parts_.settings.sample_temperature;
  options.seed = static_cast<std::uint64_t>(parts_.settings.seed + step);
  options.context = std::min(parts_.shape.context, parts_.settings.sequence_length);
  options.compute_type = compute_type(parts_.settings.precision);
  options.device = parts_.device;
  const Sample sample = parts_.samples.write(*model, parts_.strategy, options);
  if (parts_.communicator.rank() != 0 || has_no_samples_) return;
  const auto text = parts_.samples.text_of(sample);
  if (text) return parts_.log.info("sample after step " + std::to_string(step) + ": " + *text);
  has_no_samples_ = true;
  parts_.log.warn("Samples cannot be shown any more, and the run goes on without them: " +
                  text.error().message);
}

Evaluation TrainLoop::evaluate_after(std::int64_t step) {
  const PhaseMark mark(*this, step, Phase::kEvaluation);
  EvaluationOptions options;
  options.batch_size = parts_.settings.batch_per_rank;
  options.most_batches = parts_.settings.evaluation_batches;
  options.compute_type = compute_type(parts_.settings.precision);
  options.device = parts_.device;
  options.loss_chunks = loss_chunks();
  return evaluate(parts_.model, parts_.strategy, parts_.dataset, parts_.communicator,
                  parts_.recorder, options);
}

trace::Result<void> TrainLoop::keep_if_best(std::int64_t step, const Evaluation& result) {
  if (!checkpoints_.is_best(result.loss)) return {};
  if (parts_.settings.keep_best) {
    const PhaseMark mark(*this, step, Phase::kCheckpoint);
    TRY_ASSIGN(const auto folder, checkpoints_.save_best(step + 1));
    if (parts_.communicator.rank() == 0) {
      parts_.log.info("the best so far: checkpoint " + folder.string());
    }
  }
  return parts_.settings.save_model == trace::SaveModel::kBest ? save_model(step)
                                                               : trace::Result<void>();
}

trace::Result<void> TrainLoop::save_model(std::int64_t step) {
  const PhaseMark mark(*this, step, Phase::kCheckpoint);
  TRY_ASSIGN(const auto folder, parts_.saver.save(parts_.strategy, parts_.communicator));
  if (parts_.communicator.rank() == 0) {
    parts_.log.info("model after step " + std::to_string(step) + ": " + folder.string());
  }
  return {};
}

}  // namespace shardlens::trainer
