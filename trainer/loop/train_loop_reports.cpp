// What the training loop tells people, and what ends a run whose numbers are no longer any.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "trainer/loop/step_failure.h"
#include "trainer/loop/train_loop.h"

namespace shardlens::trainer {

namespace {

constexpr std::chrono::seconds kReportInterval{2};

std::string joined(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  }
  return text;
}

std::string decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

void TrainLoop::report_skipped(std::int64_t step, const StepAgreement& agreement) {
  const std::int64_t skipped = agreement.skipped_steps - skipped_steps_;
  skipped_steps_ = agreement.skipped_steps;
  if (skipped == 0 || parts_.communicator.rank() != 0) return;
  std::string what = "the step was skipped";
  if (skipped > 1 || !agreement.skipped) {
    what = std::to_string(skipped) + " steps since the last reading were skipped";
  }
  parts_.log.info("step " + std::to_string(step) + ": gradients overflowed fp16; " + what +
                  " and the loss scale is " + decimal(scaler_.scale(), 0));
}

trace::Result<void> TrainLoop::check_finite(std::int64_t step, const StepAgreement& agreement) {
  const bool loss_is_bad = !agreement.bad_ranks.empty();
  const std::vector<int>& bad = loss_is_bad ? agreement.bad_ranks : agreement.bad_norms;
  if (bad.empty()) return {};
  std::string what = place_name(step, trace::Phase::kOther) + ": the ";
  what += loss_is_bad ? "loss" : "gradient norm";
  // All ranks have the same reduced gradients: then none of them is to blame.
  const bool is_everybody = static_cast<int>(bad.size()) == parts_.communicator.world_size();
  if (loss_is_bad || !is_everybody) what += " of " + joined(bad);
  what += " is not finite";
  if (parts_.settings.on_nonfinite == trace::OnNonfinite::kContinue) {
    if (parts_.communicator.rank() == bad.front()) parts_.log.warn(what);
    return {};
  }
  return trace::fail(trace::ErrorKind::kFailed,
                     what +
                         ". Lower learning_rate, set max_grad_norm, or train on with "
                         "on_nonfinite: continue.");
}

void TrainLoop::report_progress(std::int64_t step, double loss) {
  if (parts_.communicator.rank() != 0) return;
  const auto now = std::chrono::steady_clock::now();
  const bool is_last = step + 1 == total_steps_;
  if (!reads_loss(step)) return;
  if (!is_last && now - last_report_ < kReportInterval) return;
  last_report_ = now;
  parts_.log.info("step " + std::to_string(step + 1) + " of " + std::to_string(total_steps_) +
                  ", loss " + decimal(loss, 4));
}

void TrainLoop::report_evaluation(std::int64_t step, const Evaluation& result) {
  if (parts_.communicator.rank() != 0) return;
  parts_.recorder.add_evaluation({.step = step,
                                  .loss = result.loss,
                                  .perplexity = result.perplexity,
                                  .accuracy = result.accuracy,
                                  .targets = result.targets,
                                  .sequences = result.sequences});
  parts_.log.info(
      "evaluation after step " + std::to_string(step) + ": loss " + decimal(result.loss, 4) +
      (parts_.dataset.is_classification() ? "" : ", perplexity " + decimal(result.perplexity, 2)) +
      ", accuracy " + decimal(result.accuracy, 4) + " (" + std::to_string(result.sequences) +
      " sequences)");
}

}  // namespace shardlens::trainer
