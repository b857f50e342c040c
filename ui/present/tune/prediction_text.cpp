#include "ui/present/tune/prediction_text.h"

#include <algorithm>
#include <utility>

#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using trace::base::TimeClass;
using trace::tuning::Prediction;

std::string span_text(double ns) { return format_duration(ns).text(); }

std::string elapsed_text(std::int64_t ns) {
  return format_duration(static_cast<double>(ns)).text();
}

std::string bucket_text(const trace::predict::DdpSchedule& schedule, std::size_t bucket) {
  return "bucket " + std::to_string(bucket) + " (" +
         format_bytes(static_cast<double>(schedule.buckets[bucket].bytes)).text() + ")";
}

}  // namespace

std::string change_text(const trace::tuning::Change& change) {
  return std::string(change.knob->name) + "=" + change.after;
}

std::string difference_text(double ns, const std::optional<trace::tuning::Interval>& interval) {
  if (!interval) return trace::timeline::format_signed_duration(ns);
  return trace::timeline::format_signed_duration(ns, (interval->high_ns - interval->low_ns) / 2);
}

std::string difference_text(const trace::tuning::Prediction& prediction) {
  if (prediction.changes.empty()) return "no change";
  if (prediction.difference_ns() == 0) return "unchanged";
  return difference_text(prediction.difference_ns(), prediction.difference);
}

std::string per_sample_text(const trace::tuning::Prediction& prediction) {
  return trace::timeline::format_signed_percent(prediction.change_per_sample());
}

std::string bound_text(const trace::predict::DdpSchedule& schedule, std::int64_t step_start_ns) {
  const auto first = trace::tuning::chain_begin(schedule);
  if (!first) return "";
  const auto& buckets = schedule.buckets;
  const std::size_t last = buckets.size() - 1;
  const std::string ready = elapsed_text(buckets[*first].ready_ns - step_start_ns);
  const std::string behind = elapsed_text(buckets[last].end_ns - buckets[last].ready_ns);
  if (*first == last) {
    return "Backward ends with " + bucket_text(schedule, last) + ": its last gradient is ready " +
           ready + " after the step's begin, and its reduction takes " + behind + ".";
  }
  return "From " + bucket_text(schedule, *first) + " on, ready " + ready +
         " after the step's begin, reductions follow one another without a gap; the last one, " +
         bucket_text(schedule, last) + ", ends " + behind + " after its last gradient.";
}

std::vector<std::string> assumptions(const trace::tuning::Prediction& prediction) {
  std::vector<std::string> all;
  if (prediction.assumes_contention) {
    all.push_back(
        "How much a reduction's work slows computation beside it is not known from one run: the "
        "interval spans from nothing to all of its time.");
  }
  if (prediction.is_extrapolated) {
    all.push_back(
        "Some reductions are of sizes or types that the run did not move: what they take is "
        "extrapolated.");
  }
  if (prediction.scales_computation) {
    all.push_back(
        "A micro-batch is taken to compute in proportion to its samples and to what it computes "
        "again; the interval holds a tenth of the change for that.");
  }
  return all;
}

namespace {

std::string before_and_after(const std::string& before, const std::string& after) {
  return before == after ? after : before + " → " + after;
}

std::vector<PredictionNote::Row> note_rows(const Prediction& prediction) {
  std::vector<PredictionNote::Row> rows;
  for (const auto& change : prediction.changes) {
    rows.push_back({std::string(change.knob->name), change.before + " → " + change.after});
  }
  rows.push_back({"Step", before_and_after(span_text(prediction.recorded_step_ns),
                                           span_text(prediction.step_ns))});
  if (prediction.interval) {
    const std::string_view unit = duration_unit(prediction.interval->high_ns);
    rows.push_back(
        {"95 % interval", format_duration_in(prediction.interval->low_ns, unit).value + " to " +
                              format_duration_in(prediction.interval->high_ns, unit).text()});
  }
  if (prediction.samples != 1) {
    rows.push_back({"Samples of a step", "× " + format_number(prediction.samples)});
    rows.push_back({"Time per sample", per_sample_text(prediction)});
  }
  if (prediction.recorded_exposed_ns && prediction.exposed_ns) {
    rows.push_back({"Exposed", before_and_after(span_text(*prediction.recorded_exposed_ns),
                                                span_text(*prediction.exposed_ns))});
  }
  if (prediction.recorded_peak_bytes() && prediction.peak_bytes()) {
    const auto bytes = [](std::int64_t count) {
      return format_bytes(static_cast<double>(count)).text();
    };
    rows.push_back({"Peak of tensors", before_and_after(bytes(*prediction.recorded_peak_bytes()),
                                                        bytes(*prediction.peak_bytes()))});
  }
  return rows;
}

}  // namespace

std::optional<PredictionNote> prediction_note(const state::PredictionView* view) {
  if (view == nullptr) return std::nullopt;
  PredictionNote note;
  if (!view->prediction) {
    note.is_refused = true;
    note.title = "No prediction";
    note.detail = view->refused;
    return note;
  }
  const Prediction& prediction = *view->prediction;
  if (prediction.changes.empty()) return std::nullopt;
  note.title = span_text(prediction.step_ns) + " predicted, " + difference_text(prediction);
  const std::string plural = prediction.buckets == 1 ? " bucket" : " buckets";
  note.detail = std::to_string(prediction.buckets) + plural;
  if (prediction.samples != 1) note.detail += " · " + per_sample_text(prediction) + " per sample";
  note.detail += " · against " + (view->ordinal.empty() ? "the run on screen" : view->ordinal);
  note.rows = note_rows(prediction);
  if (view->step) {
    note.notes.push_back(bound_text(view->step->schedule, view->step->start_ns));
  }
  for (std::string& assumption : assumptions(prediction)) {
    note.notes.push_back(std::move(assumption));
  }
  return note;
}

std::vector<PredictedPiece> predicted_ribbon(const trace::tuning::PredictedStep& step) {
  std::vector<PredictedPiece> pieces;
  std::int64_t at = step.start_ns;
  const auto until = [&](std::int64_t end_ns, TimeClass time_class) {
    if (end_ns <= at) return;
    if (!pieces.empty() && pieces.back().time_class == time_class) {
      pieces.back().end_ns = end_ns;
    } else {
      pieces.push_back({at, end_ns, time_class});
    }
    at = end_ns;
  };
  for (const auto& bucket : step.schedule.buckets) {
    until(std::min(bucket.start_ns, bucket.computed_ns), TimeClass::kCompute);
    until(std::min(bucket.end_ns, bucket.computed_ns), TimeClass::kOverlapped);
    until(bucket.end_ns, TimeClass::kExposed);
  }
  until(step.schedule.backward_end_ns, TimeClass::kCompute);
  if (at < step.end_ns) pieces.push_back({at, step.end_ns, TimeClass::kIdle, true});
  return pieces;
}

}  // namespace shardlens::ui::present
