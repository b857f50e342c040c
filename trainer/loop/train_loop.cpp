#include "trainer/loop/train_loop.h"

#include <c10/cuda/CUDAFunctions.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "profiler/pytorch/torch_sources.h"
#include "trace/base/checksum.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"
#include "trainer/loop/memory_failure.h"
#include "trainer/loop/phase_mark.h"
#include "trainer/loop/step_failure.h"
#include "trainer/model/decoder_model.h"
#include "trainer/optimizer/learning_rate.h"
#include "trainer/saving/shared_disk.h"
#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer::loop {

using trace::base::formatted;
using trace::base::Phase;
using trace::model::MemoryCategory;

namespace {

data::SamplerOptions sampler_options(const TrainParts& parts) {
  data::SamplerOptions options;
  options.samples = parts.dataset.training_samples();
  options.world_size = parts.communicator.world_size();
  options.rank = parts.communicator.rank();
  options.shuffle = parts.settings.shuffle;
  options.drop_last = parts.settings.drop_last;
  options.pad = parts.settings.uneven_inputs != trace::job::UnevenInputs::kJoin;
  options.seed = static_cast<std::uint64_t>(parts.settings.seed);
  return options;
}

std::unique_ptr<optimizer::Optimizer> optimizer_of(const TrainParts& parts) {
  const profiler::memory::MemoryCategoryScope category(MemoryCategory::kOptimizer);
  return optimizer::build_optimizer(parts.strategy.local_parameters(), parts.settings);
}

constexpr std::chrono::seconds kReportInterval{2};

std::string names_of(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + trace::base::joined(ranks);
}

}  // namespace

TrainLoop::TrainLoop(const TrainParts& parts, const std::vector<trace::job::Injection>& injections)
    : parts_(parts),
      optimizer_(optimizer_of(parts)),
      scaler_({.enabled = trace::job::scales_loss(parts.settings),
               .initial_scale = parts.settings.initial_loss_scale},
              parts.device),
      stream_(parts.dataset, sampler_options(parts), parts.settings.batch_per_rank,
              parts.settings.gradient_accumulation_steps),
      batches_(stream_, parts.device),
      checkpoints_(
          {parts.settings, parts.run_folder, parts.strategy, *optimizer_, batches_, scaler_,
           parts.communicator, trace::job::saved_parameters(parts.shape, parts.settings),
           trace::job::notes_of_meaning(parts.settings, parts.shape), parts.dataset.label_names(),
           [&recorder = parts.recorder] { recorder.progress(); }, parts.on_piece_saved}),
      faults_(injections, parts.communicator),
      schedule_(trace::job::parse_record_schedule(parts.settings.record)
                    .value_or(trace::job::RecordSchedule())) {}

trace::base::Result<void> TrainLoop::begin() {
  parts_.model.train();
  TRY(saving::check_shared_disk(parts_.settings, parts_.run_folder, parts_.strategy,
                                parts_.communicator));
  TRY_ASSIGN(first_step_, checkpoints_.resume());
  if (first_step_ > 0 && parts_.communicator.rank() == 0) {
    parts_.log.info("resumed after step " + std::to_string(first_step_ - 1));
  }
  total_steps_ = steps_in_all();
  TRY(check_work_is_left());
  parts_.on_step(first_step_, total_steps_);
  // What it was asked so far belongs to no step.
  if (parts_.device.is_cuda()) c10::cuda::device_synchronize();
  return {};
}

// What is left of epochs is counted in batches of this run: the one before may have had others. All
// steps have as many, so that those at the end which are too few for one are left out.
std::int64_t TrainLoop::steps_in_all() const {
  const trace::job::Settings& s = parts_.settings;
  if (s.epochs == 0) return s.steps;
  const std::int64_t left =
      (s.epochs - batches_.epoch()) * stream_.batches_per_epoch() - batches_.batches_drawn();
  const std::int64_t least = first_step_ == 0 ? 1 : 0;
  return first_step_ + std::max(least, left / s.gradient_accumulation_steps);
}

// As check_resume() of steps, of which more is known before the run has its data.
trace::base::Result<void> TrainLoop::check_work_is_left() const {
  const trace::job::Settings& s = parts_.settings;
  if (s.epochs == 0 || total_steps_ > first_step_) return {};
  const std::string what = "resume: no step of epochs: " + std::to_string(s.epochs) +
                           " is left after " + s.resume + "; set epochs to more than that";
  if (!trace::job::leaves_model(s)) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             what + ", or save_model: end to save its model.");
  }
  if (parts_.communicator.rank() == 0) parts_.log.warn(what + ". Its model is saved as it is.");
  return {};
}

trace::base::Result<TrainOutcome> TrainLoop::run() {
  TRY(begin());
  TrainOutcome outcome{.steps = first_step_};
  std::int64_t step = first_step_;
  try {
    for (; step < total_steps_; ++step) {
      TRY_ASSIGN(const StepAgreement agreement, run_step(step));
      outcome.steps = step + 1;
      parts_.on_step(outcome.steps, total_steps_);
      // In the last step there is nothing left to stop. What is due behind another is done before:
      // a run that goes on from there would leave it out.
      outcome.stopped = agreement.stop && step + 1 < total_steps_;
      const bool saves =
          checkpoints_.is_due(step + 1) || (outcome.stopped && parts_.settings.checkpoint_on_stop);
      // Whoever stops it may not wait for an evaluation.
      if (saves && outcome.stopped) TRY(save_checkpoint(step));
      TRY_ASSIGN(const bool is_best, evaluate_if_due(step, outcome.stopped));
      // What was saved before it does not know of it.
      if (saves && (is_best || !outcome.stopped)) TRY(save_checkpoint(step));
      if (outcome.stopped) {
        parts_.log.info("stopped after step " + std::to_string(step) + ", as asked");
        return outcome;
      }
    }
    step = outcome.steps - 1;
    TRY(save_at_end(step));
  } catch (const std::exception& failure) {
    return tl::make_unexpected(
        describe_failure(failure, place_name(step, phase_),
                         [this](const std::string& message) { return explain_memory(message); }));
  }
  return outcome;
}

trace::base::Result<StepAgreement> TrainLoop::run_step(std::int64_t step) {
  if (parts_.memory_sampler != nullptr) parts_.memory_sampler->begin_step(step);
  parts_.recorder.begin_step(step);
  phase_ = Phase::kOther;
  step_samples_ = step_tokens_ = step_flops_ = 0;
  const auto micro_batches = parts_.settings.gradient_accumulation_steps;
  torch::Tensor loss_sum = torch::zeros({}, torch::device(parts_.device));
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    run_micro_batch(step, i + 1 == micro_batches, loss_sum);
  }
  const torch::Tensor norm = update(step);
  StepAgreement agreement;
  if (reads_loss(step)) {
    agreement = exchange_step(parts_.communicator, {.loss = loss_sum,
                                                    .gradient_norm = norm,
                                                    .overflowed = scaler_.overflowed(),
                                                    .skipped_steps = scaler_.skipped_steps(),
                                                    .stop = parts_.stop_signal != 0});
    report_skipped(step, agreement);
  }
  let_device_catch_up(step);
  finish_step(step, agreement);
  TRY(check_finite(step, agreement));
  return agreement;
}

bool TrainLoop::reads_loss(std::int64_t step) const {
  // What is saved, after an evaluation, too, must be known to be finite: it takes the place of an
  // older one.
  return step % parts_.settings.loss_every == 0 || step + 1 == total_steps_ ||
         checkpoints_.is_due(step + 1) || evaluates_after(step);
}

// What the device does is recorded by when it did it, all else by the step in which the host asked
// for it.
void TrainLoop::let_device_catch_up(std::int64_t step) const {
  if (!parts_.device.is_cuda() || reads_loss(step)) return;
  if (schedule_.includes(step) != schedule_.includes(step + 1)) c10::cuda::device_synchronize();
}

void TrainLoop::run_micro_batch(std::int64_t step, bool is_last, torch::Tensor& loss_sum) {
  const data::TrainingBatch batch = load_batch(step);
  count_work(batch);
  parts_.strategy.set_require_sync(is_last || parts_.settings.sync_each_batch);
  const torch::Tensor loss = forward(step, batch);
  loss_sum += loss.detach();
  // As PyTorch's Join: gradients of ranks without data are zero, and the mean is over all ranks.
  const data::StepTotals& totals = batch.step;
  const double share =
      static_cast<double>(totals.batches - totals.stand_ins) / static_cast<double>(totals.batches);
  backward(step, totals.stand_ins == 0 ? loss : loss * share);
}

void TrainLoop::count_work(const data::TrainingBatch& batch) {
  if (batch.is_stand_in) return;
  step_samples_ += batch.inputs.size(0);
  step_tokens_ += batch.read_tokens;
  // Padding is computed, too.
  step_flops_ += trace::job::flops_per_token(parts_.shape, parts_.settings, batch.inputs.size(1)) *
                 batch.inputs.numel();
}

data::TrainingBatch TrainLoop::load_batch(std::int64_t step) {
  const PhaseMark mark(*this, step, Phase::kData);
  return batches_.next();
}

// Summed over micro-batches and averaged over ranks, as strategies do with gradients, it is the
// mean over all targets that count in the step.
torch::Tensor TrainLoop::forward(std::int64_t step, const data::TrainingBatch& batch) {
  const PhaseMark mark(*this, step, Phase::kForward);
  parts_.strategy.before_forward();
  const tensor::AutocastScope autocast(parts_.device.type(),
                                       tensor::compute_type(parts_.settings.precision));
  const double targets = static_cast<double>(std::max<std::int64_t>(1, batch.step.targets));
  torch::Tensor loss =
      parts_.model.loss(batch, targets / parts_.communicator.world_size(), loss_chunks());
  if (faults_.poisons(step, Phase::kForward) || faults_.poisons(step, Phase::kData)) {
    loss = loss * std::numeric_limits<double>::quiet_NaN();
  }
  return loss;
}

std::optional<model::ChunkedLossOptions> TrainLoop::loss_chunks() const {
  const trace::job::Settings& s = parts_.settings;
  const std::int64_t chunk =
      trace::job::loss_chunk_tokens(s, parts_.shape, s.batch_per_rank * s.sequence_length);
  if (chunk == 0) return std::nullopt;
  return model::ChunkedLossOptions{chunk, scaler_.scale_tensor()};
}

void TrainLoop::backward(std::int64_t step, const torch::Tensor& loss) {
  const PhaseMark mark(*this, step, Phase::kBackward);
  const torch::Tensor scaled = scaler_.scaled(loss);
  parts_.strategy.before_backward(scaled);
  scaled.backward();
  parts_.strategy.after_backward();
  if (faults_.poisons(step, Phase::kBackward)) {
    const torch::NoGradGuard no_grad;
    for (const strategy::LocalParameter& parameter : parts_.strategy.local_parameters()) {
      if (parameter.value.grad().defined()) {
        parameter.value.grad().fill_(std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
}

torch::Tensor TrainLoop::update(std::int64_t step) {
  const PhaseMark mark(*this, step, Phase::kOptimizer);
  scaler_.unscale(parts_.strategy, parts_.communicator);
  torch::Tensor norm = optimizer::clip_gradients(parts_.strategy, parts_.settings.max_grad_norm);
  const double rate = optimizer::learning_rate_at(parts_.settings, step, total_steps_);
  parts_.strategy.update([&](std::span<const std::size_t> parameters) {
    optimizer_->step(parameters, rate, scaler_.overflowed());
  });
  scaler_.update();
  if (faults_.poisons(step, Phase::kOptimizer)) {
    norm = norm * std::numeric_limits<double>::quiet_NaN();
  }
  parts_.strategy.zero_gradients();
  return norm;
}

void TrainLoop::finish_step(std::int64_t step, const StepAgreement& agreement) {
  const auto rank = parts_.communicator.rank();
  const bool own_loss_bad =
      std::ranges::find(agreement.bad_ranks, rank) != agreement.bad_ranks.end();
  profiler::queue::StepResult result;
  result.loss = agreement.loss;
  result.gradient_norm = agreement.gradient_norm;
  result.learning_rate = optimizer::learning_rate_at(parts_.settings, step, total_steps_);
  result.samples = step_samples_;
  result.tokens = step_tokens_;
  result.model_flops = step_flops_;
  // A bad loss spoils everybody's gradients: then only the rank it came from is marked.
  const bool own_norm_bad =
      std::ranges::find(agreement.bad_norms, rank) != agreement.bad_norms.end();
  result.nonfinite = own_loss_bad || (agreement.bad_ranks.empty() && own_norm_bad);
  if (parts_.memory_sampler != nullptr) parts_.memory_sampler->record_step_peak();
  parts_.recorder.end_step(result);
  report_progress(step, agreement.loss);
}

std::string TrainLoop::explain_memory(const std::string& message) const {
  const auto failed = failed_allocation(parts_.device, message);
  if (!failed) return {};
  trace::predict::PlannedJob job =
      trace::predict::job_on_this_machine(parts_.settings, parts_.shape);
  job.ranks = parts_.communicator.world_size();
  job.on_gpu = parts_.device.is_cuda();
  return explain_out_of_memory(*failed, job, parts_.strategy.current_unit());
}

trace::base::Result<void> TrainLoop::save_checkpoint(std::int64_t step) {
  const PhaseMark mark(*this, step, Phase::kCheckpoint);
  TRY_ASSIGN(const auto folder, checkpoints_.save(step + 1));
  if (parts_.communicator.rank() == 0) parts_.log.info("checkpoint " + folder.string());
  return {};
}

bool TrainLoop::evaluates_after(std::int64_t step) const {
  const auto every = parts_.settings.evaluate_every;
  return every > 0 && (step + 1) % every == 0;
}

trace::base::Result<bool> TrainLoop::evaluate_if_due(std::int64_t step, bool is_stopped) {
  if (!evaluates_after(step)) return false;
  const evaluate::Evaluation result = evaluate_after(step);
  report_evaluation(step, result);
  // What puts it into words has been stopped, too.
  if (parts_.samples.is_on() && !is_stopped) write_sample(step);
  return keep_if_best(step, result);
}

void TrainLoop::write_sample(std::int64_t step) {
  auto* model = dynamic_cast<model::DecoderModel*>(&parts_.model);
  if (model == nullptr) return;
  const PhaseMark mark(*this, step, Phase::kEvaluation);
  evaluate::GenerationOptions options;
  options.tokens = parts_.settings.sample_tokens;
  options.temperature = parts_.settings.sample_temperature;
  options.seed = static_cast<std::uint64_t>(parts_.settings.seed + step);
  options.context = std::min(parts_.shape.context, parts_.settings.sequence_length);
  options.compute_type = tensor::compute_type(parts_.settings.precision);
  options.device = parts_.device;
  options.on_token = [this] { parts_.recorder.progress(); };
  const evaluate::Sample sample = parts_.samples.write(*model, parts_.strategy, options);
  if (parts_.communicator.rank() == 0) tell_sample(step, sample);
  // Putting it into words takes long beside a step, in which the other ranks would wait for it.
  parts_.communicator.barrier(comm::named_tag("sample"));
}

void TrainLoop::tell_sample(std::int64_t step, const evaluate::Sample& sample) {
  if (has_no_samples_) return;
  const auto text = parts_.samples.text_of(sample);
  if (text) return parts_.log.info("sample after step " + std::to_string(step) + ": " + *text);
  has_no_samples_ = true;
  parts_.log.warn("Samples cannot be shown any more, and the run goes on without them: " +
                  text.error().message);
}

evaluate::Evaluation TrainLoop::evaluate_after(std::int64_t step) {
  const PhaseMark mark(*this, step, Phase::kEvaluation);
  evaluate::EvaluationOptions options;
  options.batch_size = parts_.settings.batch_per_rank;
  options.most_batches = parts_.settings.evaluation_batches;
  options.compute_type = tensor::compute_type(parts_.settings.precision);
  options.device = parts_.device;
  options.loss_chunks = loss_chunks();
  return evaluate::evaluate(parts_.model, parts_.strategy, parts_.dataset, parts_.communicator,
                            parts_.recorder, options);
}

std::string TrainLoop::evaluated_text(const evaluate::Evaluation& result) const {
  return trace::base::checksum_text(parts_.dataset.held_out_checksum()) + ", " +
         std::to_string(result.sequences) + " sequences, " + std::to_string(result.targets) +
         " targets";
}

trace::base::Result<bool> TrainLoop::keep_if_best(std::int64_t step,
                                                  const evaluate::Evaluation& result) {
  const trace::job::Settings& s = parts_.settings;
  const bool saves_best = s.save_model == trace::job::SaveModel::kBest;
  const bool is_other_text = checkpoints_.forget_best_of_other_text(evaluated_text(result));
  if (is_other_text && (s.keep_best || saves_best) && parts_.communicator.rank() == 0) {
    parts_.log.warn(
        "the evaluations before the run was resumed were of other text (data, ranks, batches): "
        "the best from here on is kept, whatever theirs was");
  }
  if (!checkpoints_.is_best(result.loss)) return false;
  has_best_ = true;
  if (s.keep_best) {
    const PhaseMark mark(*this, step, Phase::kCheckpoint);
    TRY_ASSIGN(const auto folder, checkpoints_.save_best(step + 1));
    if (parts_.communicator.rank() == 0) {
      parts_.log.info("the best so far: checkpoint " + folder.string());
    }
  }
  if (saves_best) TRY(save_model(step));
  return true;
}

// A run that goes on may begin with a better loss than it reaches: then what it has is kept, and
// not called the best.
trace::base::Result<void> TrainLoop::save_at_end(std::int64_t step) {
  const trace::job::Settings& s = parts_.settings;
  const bool saves_best = s.save_model == trace::job::SaveModel::kBest;
  const bool lacks_best = (saves_best || s.keep_best) && !has_best_;
  if (lacks_best && parts_.communicator.rank() == 0) {
    parts_.log.warn(checkpoints_.why_no_best() +
                    (s.keep_best ? "; there is no best checkpoint" : "") +
                    (saves_best ? "; the model is saved as it is at the end" : ""));
  }
  const bool saves = saves_best ? lacks_best : trace::job::leaves_model(s);
  return saves ? save_model(step) : trace::base::Result<void>();
}

trace::base::Result<void> TrainLoop::save_model(std::int64_t step) {
  const PhaseMark mark(*this, step, Phase::kCheckpoint);
  TRY_ASSIGN(const auto folder, parts_.saver.save(parts_.strategy, parts_.communicator));
  if (parts_.communicator.rank() == 0) {
    const bool lacks_base = saving::saves_adapters_alone(parts_.settings) &&
                            !trace::job::is_model_folder(parts_.settings.model);
    parts_.log.info("model after step " + std::to_string(step) + ": " + folder.string() +
                    (lacks_base ? "; its adapters belong to weights drawn by the seed, which only "
                                  "merge_lora saves with them"
                                : ""));
  }
  return {};
}

void TrainLoop::report_skipped(std::int64_t step, const StepAgreement& agreement) {
  const std::int64_t skipped = agreement.skipped_steps - skipped_steps_;
  skipped_steps_ = agreement.skipped_steps;
  if (skipped == 0 || parts_.communicator.rank() != 0) return;
  std::string what = "the step was skipped";
  if (skipped > 1 || !agreement.skipped) {
    what = std::to_string(skipped) + " steps since the last reading were skipped";
  }
  parts_.log.info("step " + std::to_string(step) + ": gradients overflowed fp16; " + what +
                  formatted(" and the loss scale is %.0f", scaler_.scale()));
}

trace::base::Result<void> TrainLoop::check_finite(std::int64_t step,
                                                  const StepAgreement& agreement) {
  const bool loss_is_bad = !agreement.bad_ranks.empty();
  const std::vector<int>& bad = loss_is_bad ? agreement.bad_ranks : agreement.bad_norms;
  if (bad.empty()) return {};
  std::string what = place_name(step, trace::base::Phase::kOther) + ": the ";
  what += loss_is_bad ? "loss" : "gradient norm";
  // All ranks have the same reduced gradients: then none of them is to blame.
  const bool is_everybody = static_cast<int>(bad.size()) == parts_.communicator.world_size();
  if (loss_is_bad || !is_everybody) what += " of " + names_of(bad);
  what += " is not finite";
  if (parts_.settings.on_nonfinite == trace::job::OnNonfinite::kContinue) {
    if (parts_.communicator.rank() == bad.front()) parts_.log.warn(what);
    return {};
  }
  const std::string clipping = parts_.settings.max_grad_norm > 0
                                   ? "Lower learning_rate or max_grad_norm"
                                   : "Lower learning_rate, set max_grad_norm";
  const std::string advice =
      loss_is_bad && step == first_step_
          ? ", before any update. Check the values of the model that it starts from, or compute in "
            "fp32 (precision, param_dtype)."
          : ". " + clipping + ", or train on with on_nonfinite: continue.";
  return trace::base::fail(trace::base::ErrorKind::kFailed, what + advice);
}

void TrainLoop::report_progress(std::int64_t step, double loss) {
  if (parts_.communicator.rank() != 0) return;
  const auto now = std::chrono::steady_clock::now();
  const bool is_last = step + 1 == total_steps_;
  if (!reads_loss(step)) return;
  if (!is_last && now - last_report_ < kReportInterval) return;
  last_report_ = now;
  // How many are done, as steps themselves are counted from 0.
  parts_.log.info(std::to_string(step + 1) + " of " + std::to_string(total_steps_) +
                  formatted(" steps, loss %.4f", loss));
}

void TrainLoop::report_evaluation(std::int64_t step, const evaluate::Evaluation& result) {
  if (parts_.communicator.rank() != 0) return;
  parts_.recorder.add_evaluation({.step = step,
                                  .loss = result.loss,
                                  .perplexity = result.perplexity,
                                  .accuracy = result.accuracy,
                                  .targets = result.targets,
                                  .sequences = result.sequences});
  parts_.log.info(
      "evaluation after step " + std::to_string(step) + formatted(": loss %.4f", result.loss) +
      (parts_.dataset.is_classification() ? ""
                                          : formatted(", perplexity %.2f", result.perplexity)) +
      formatted(", accuracy %.4f (", result.accuracy) + std::to_string(result.sequences) +
      " sequences)");
}

}  // namespace shardlens::trainer::loop
