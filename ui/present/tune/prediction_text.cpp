#include "ui/present/tune/prediction_text.h"

#include <cmath>

#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

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

std::string difference_text(const trace::tuning::Prediction& prediction) {
  if (prediction.changes.empty()) return "no change";
  const double ns = prediction.difference_ns();
  const std::string_view unit = duration_unit(std::abs(ns));
  std::string text = (ns < 0 ? "−" : "+") + format_duration_in(std::abs(ns), unit).text();
  if (prediction.difference) {
    const double half = (prediction.difference->high_ns - prediction.difference->low_ns) / 2;
    text += " ± " + format_duration_in(half, unit).value;
  }
  return text;
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
        "Some buckets are smaller or larger than any that the run reduced: what they take is "
        "extrapolated.");
  }
  return all;
}

}  // namespace shardlens::ui::present
