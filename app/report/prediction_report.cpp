#include "app/report/prediction_report.h"

#include <cstdint>
#include <optional>

#include "app/report/text_table.h"
#include "ui/present/format.h"

namespace shardlens::app::report {
namespace {

Json ms_or_null(const std::optional<double>& ns) { return ns ? ms(*ns) : Json(nullptr); }

Json bytes_or_null(const std::optional<std::int64_t>& bytes) {
  return bytes ? Json(*bytes) : Json(nullptr);
}

std::string shown_time(double ns) { return ui::present::format_duration(ns).text(); }
std::string shown_size(double bytes) { return ui::present::format_bytes(bytes).text(); }

double since(const Prediction& prediction, std::int64_t time_ns) {
  return static_cast<double>(time_ns - prediction.step_start_ns);
}

std::string changes_text(const Prediction& prediction) {
  std::string text;
  for (const std::string& change : prediction.changes) {
    text += (text.empty() ? "" : ", ") + change;
  }
  return text.empty() ? "nothing changed" : text;
}

std::string buckets_text(const Prediction& prediction) {
  TextTable table({{"bucket", Align::kRight},
                   {"size", Align::kRight},
                   {"tensors", Align::kRight},
                   {"ready", Align::kRight},
                   {"starts", Align::kRight},
                   {"ends", Align::kRight}});
  const auto& buckets = prediction.schedule.buckets;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto& bucket = buckets[i];
    table.add_row({std::to_string(i), shown_size(static_cast<double>(bucket.bytes)),
                   std::to_string(bucket.tensors), shown_time(since(prediction, bucket.ready_ns)),
                   shown_time(since(prediction, bucket.start_ns)),
                   shown_time(since(prediction, bucket.end_ns))});
  }
  return table.text();
}

}  // namespace

Json prediction_json(const Prediction& prediction) {
  Json buckets = Json::array();
  for (const auto& bucket : prediction.schedule.buckets) {
    buckets.push_back({{"bytes", bucket.bytes},
                       {"tensors", bucket.tensors},
                       {"ready_ms", ms(since(prediction, bucket.ready_ns))},
                       {"start_ms", ms(since(prediction, bucket.start_ns))},
                       {"end_ms", ms(since(prediction, bucket.end_ns))}});
  }
  const auto low = prediction.interval ? ms(prediction.interval->low_ns) : Json(nullptr);
  const auto high = prediction.interval ? ms(prediction.interval->high_ns) : Json(nullptr);
  return {{"schema", 1},
          {"run", prediction.info.name},
          {"changes", prediction.changes},
          {"steps_used", prediction.steps},
          {"step_ms",
           {{"recorded", ms(prediction.recorded_step_ns)},
            {"predicted", ms(prediction.step_ns)},
            {"low", low},
            {"high", high}}},
          {"exposed_ms",
           {{"recorded", ms_or_null(prediction.recorded_exposed_ns)},
            {"predicted", ms_or_null(prediction.exposed_ns)}}},
          {"peak_memory_bytes",
           {{"recorded", bytes_or_null(prediction.recorded_peak_bytes)},
            {"predicted", bytes_or_null(prediction.peak_bytes)}}},
          {"schedule", {{"step", prediction.step}, {"buckets", std::move(buckets)}}},
          {"bound", prediction.bound},
          {"notes", prediction.notes}};
}

std::string prediction_text(const Prediction& prediction) {
  std::string text = prediction.info.name + ": " + changes_text(prediction) + "\n\n";
  TextTable table({{""}, {"recorded", Align::kRight}, {"predicted", Align::kRight}, {""}});
  table.add_row({"Step", shown_time(prediction.recorded_step_ns), shown_time(prediction.step_ns),
                 prediction.interval ? "95 %: " + shown_time(prediction.interval->low_ns) + " to " +
                                           shown_time(prediction.interval->high_ns)
                                     : "too few steps for an interval"});
  if (prediction.exposed_ns) {
    table.add_row({"Exposed", shown_time(*prediction.recorded_exposed_ns),
                   shown_time(*prediction.exposed_ns), ""});
  }
  if (prediction.peak_bytes) {
    table.add_row({"Peak of tensors",
                   shown_size(static_cast<double>(*prediction.recorded_peak_bytes)),
                   shown_size(static_cast<double>(*prediction.peak_bytes)), ""});
  }
  text += table.text() + "\n" + prediction.bound + "\n\nBuckets of a typical step (" +
          std::to_string(prediction.step) + "), from its begin\n" + buckets_text(prediction) +
          "\n" + "From " + std::to_string(prediction.steps) + " recorded steps.";
  for (const std::string& note : prediction.notes) text += " " + note;
  return text + "\n";
}

}  // namespace shardlens::app::report
