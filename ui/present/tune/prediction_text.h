// What is predicted of a change, in words. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/steps/ribbon.h"
#include "trace/tuning/prediction.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

std::string change_text(const trace::tuning::Change& change);  // "bucket_cap_mb=4"
// "Without record, whose effect is not known."; "" where nothing is left out.
std::string left_out_text(const trace::tuning::Prediction& prediction);
// "No effect on the step: learning_rate."; "" where there is none.
std::string without_effect_text(const trace::tuning::Prediction& prediction);
// Why a difference has no interval; "" where it has, or there is none.
std::string no_interval_text(const trace::tuning::Prediction& prediction);
// "+4.2 ms ± 1.6"; without an interval "+4.2 ms".
std::string difference_text(double ns, const std::optional<trace::tuning::Interval>& interval);
// The same of the step; "no change", or "unchanged" where the changes do nothing to it.
std::string difference_text(const trace::tuning::Prediction& prediction);
// Of the time per sample, where a step has more or fewer of them: "−4.1 %".
std::string per_token_text(const trace::tuning::Prediction& prediction);
// "Two runs of the same settings differ by more than that by chance, up to 24 ms."; "" where it is
// more, or that is not known. `apart`: NoiseModel::apart() of the run's job.
std::string chance_text(const trace::tuning::Prediction& prediction,
                        const std::optional<double>& apart);
// What bounds the step, as a sentence.
std::string bound_text(const trace::tuning::PredictedStep& step);
// That sentence, and the same in fewer and fewer words, for where it has no room.
std::vector<std::string> bound_wordings(const trace::tuning::PredictedStep& step);
// For how long a call of the schedule made the rank wait that ends last.
double waited_ns(const trace::tuning::PredictedStep& step, std::size_t call);
// "7 buckets", "6 units"; "the same 7 buckets" where a change moves nothing else.
std::string parts_text(const trace::tuning::Prediction& prediction);
// What it assumes, a sentence each.
std::vector<std::string> assumptions(const trace::tuning::Prediction& prediction);

// Above the start button. Nothing: the next run would be as the one on screen.
struct PredictionNote {
  std::string title;   // "404 ms predicted, +4.2 ms ± 1.6"; "No prediction"
  std::string detail;  // "7 buckets · against run 4"; or why nothing is predicted
  bool is_refused = false;
  // For the tooltip: what changes, recorded and predicted figures, what it assumes.
  struct Row {
    std::string name, value;
  };
  std::vector<Row> rows;
  std::vector<std::string> notes;
};
std::optional<PredictionNote> prediction_note(const state::PredictionView* view,
                                              const std::optional<double>& apart);

// A predicted step as the model has it, of the rank that ends last: computation, communication
// under it, waiting for communication. In order, without gaps, up to the schedule's end: what comes
// behind is as recorded. Absolute times.
std::vector<trace::analysis::ClassPiece> predicted_ribbon(const trace::tuning::PredictedStep& step);

}  // namespace shardlens::ui::present
