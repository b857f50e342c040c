// Trains: data, forward, backward, optimizer, step after step, each recorded as a phase. The
// training thread.
#pragma once

#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/memory/memory_sampler.h"
#include "profiler/recorder/recorder.h"
#include "trace/base/result.h"
#include "trace/job/settings/grammars.h"
#include "trace/job/settings/settings.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/batch_loader.h"
#include "trainer/evaluate/evaluation.h"
#include "trainer/evaluate/sample_writer.h"
#include "trainer/loop/fault_injector.h"
#include "trainer/loop/rank_log.h"
#include "trainer/loop/step_exchange.h"
#include "trainer/loop/training_checkpoints.h"
#include "trainer/model/layers/model_shape.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/grad_scaler.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/saving/model_saver.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::loop {

// Everything the loop works with; outlives it.
struct TrainParts {
  const trace::job::Settings& settings;
  const model::ModelShape& shape;
  const data::TokenDataset& dataset;
  torch::Device device;
  model::Model& model;
  strategy::Strategy& strategy;
  comm::Communicator& communicator;
  const std::filesystem::path& run_folder;  // checkpoints go there
  profiler::recorder::Recorder& recorder;
  profiler::memory::MemorySampler* memory_sampler;  // null: memory is not recorded
  RankLog& log;
  const std::atomic<int>& stop_signal;  // 0: nobody asked
  evaluate::SampleWriter& samples;
  const saving::ModelSaver& saver;
  // After every step: how many were trained, of how many.
  std::function<void(std::int64_t steps, std::int64_t steps_total)> on_step;
  // As long as a checkpoint that is saved gets on.
  std::function<void()> on_piece_saved{};
};

struct TrainOutcome {
  std::int64_t steps = 0;  // that were completed, those before a checkpoint included
  bool stopped = false;    // before the end, because it was asked to
};

class TrainLoop {
 public:
  // Allocates the optimizer's state.
  TrainLoop(const TrainParts& parts, const std::vector<trace::job::Injection>& injections);

  // All exceptions of a step end here, as an error that names step and phase.
  trace::base::Result<TrainOutcome> run();

 private:
  class PhaseMark;

  trace::base::Result<void> begin();
  std::int64_t steps_in_all() const;
  trace::base::Result<void> check_work_is_left() const;
  trace::base::Result<StepAgreement> run_step(std::int64_t step);
  // Forward and backward of one micro-batch; adds its loss to `loss_sum`.
  void run_micro_batch(std::int64_t step, bool is_last, torch::Tensor& loss_sum);
  void count_work(const data::TrainingBatch& batch);
  data::TrainingBatch load_batch(std::int64_t step);
  torch::Tensor forward(std::int64_t step, const data::TrainingBatch& batch);
  void backward(std::int64_t step, const torch::Tensor& loss);
  torch::Tensor update(std::int64_t step);  // returns the gradients' norm, a scalar
  // Between the steps that it is asked for the loss stays on the device, and nobody waits.
  bool reads_loss(std::int64_t step) const;
  bool evaluates_after(std::int64_t step) const;
  // Where the steps that are recorded in detail begin or end behind this one.
  void let_device_catch_up(std::int64_t step) const;
  void finish_step(std::int64_t step, const StepAgreement& agreement);
  void report_skipped(std::int64_t step, const StepAgreement& agreement);
  std::optional<model::ChunkedLossOptions> loss_chunks() const;
  trace::base::Result<void> check_finite(std::int64_t step, const StepAgreement& agreement);
  // Whether it is the best so far.
  trace::base::Result<bool> evaluate_if_due(std::int64_t step, bool is_stopped);
  evaluate::Evaluation evaluate_after(std::int64_t step);
  // Equal for evaluations whose losses can be compared.
  std::string evaluated_text(const evaluate::Evaluation& result) const;
  trace::base::Result<bool> keep_if_best(std::int64_t step, const evaluate::Evaluation& result);
  void write_sample(std::int64_t step);
  void tell_sample(std::int64_t step, const evaluate::Sample& sample);
  trace::base::Result<void> save_at_end(std::int64_t step);
  trace::base::Result<void> save_model(std::int64_t step);
  trace::base::Result<void> save_checkpoint(std::int64_t step);
  std::string explain_memory(const std::string& message) const;
  void report_progress(std::int64_t step, double loss);
  void report_evaluation(std::int64_t step, const evaluate::Evaluation& result);

  TrainParts parts_;
  std::unique_ptr<optimizer::Optimizer> optimizer_;
  optimizer::GradScaler scaler_;
  std::int64_t skipped_steps_ = 0;  // for overflow, as far as it was read
  data::BatchStream stream_;
  data::BatchLoader batches_;
  TrainingCheckpoints checkpoints_;
  FaultInjector faults_;
  const trace::job::RecordSchedule schedule_;
  std::int64_t first_step_ = 0;  // behind the checkpoint that it goes on from
  std::int64_t total_steps_ = 0;
  bool has_best_ = false;        // an evaluation of this run was the best so far
  bool has_no_samples_ = false;  // any more: it has been said why
  // Of this rank's micro-batches of the step.
  std::int64_t step_samples_ = 0;
  std::int64_t step_tokens_ = 0;                           // without padding
  std::int64_t step_flops_ = 0;                            // with it
  trace::base::Phase phase_ = trace::base::Phase::kOther;  // for the message of a failure
  std::chrono::steady_clock::time_point last_report_{};
};

}  // namespace shardlens::trainer::loop
