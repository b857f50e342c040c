#include "app/report/tuning/history_report.h"

#include "app/report/text_table.h"
#include "ui/present/format.h"

namespace shardlens::app::report {
namespace {

using ui::present::PredictionHistory;
using ui::present::TestedPrediction;

std::string history_time(double ns) { return ui::present::format_duration(ns).text(); }

Json tested_json(const TestedPrediction& tested) {
  const auto& interval = tested.interval;
  return {{"run", tested.run},
          {"name", tested.name},
          {"from", tested.from},
          {"predicted_ms",
           {{"mean", ms(tested.predicted_ns)},
            {"low", interval ? ms(interval->low_ns) : Json(nullptr)},
            {"high", interval ? ms(interval->high_ns) : Json(nullptr)}}},
          {"measured_ms", ms(tested.measured_ns)},
          {"error", tested.error()},
          {"within", interval ? Json(tested.is_within()) : Json(nullptr)}};
}

std::vector<std::string> row_of(const TestedPrediction& tested) {
  const auto& interval = tested.interval;
  return {tested.run,
          tested.name,
          tested.from,
          history_time(tested.predicted_ns),
          interval ? history_time(interval->low_ns) + " to " + history_time(interval->high_ns) : "",
          history_time(tested.measured_ns),
          ui::present::format_signed_percent(tested.error()),
          !interval            ? ""
          : tested.is_within() ? "within"
                               : "outside"};
}

}  // namespace

Json history_json(const PredictionHistory& history) {
  Json tested = Json::array();
  for (const TestedPrediction& each : history.tested) tested.push_back(tested_json(each));
  const auto count = [](std::size_t number) { return Json(number); };
  return {{"schema", 1},
          {"predictions", std::move(tested)},
          {"untested", count(history.untested)},
          {"with_interval", count(history.with_interval)},
          {"within", count(history.within)},
          {"median_error", history.median_error ? Json(*history.median_error) : Json(nullptr)},
          {"took_longer", count(history.took_longer)},
          {"words", ui::present::history_words(history)}};
}

std::string history_text(const PredictionHistory& history) {
  std::string text;
  if (!history.tested.empty()) {
    TextTable table({{"run"},
                     {"name"},
                     {"predicted from"},
                     {"predicted", Align::kRight},
                     {"95 %", Align::kRight},
                     {"measured", Align::kRight},
                     {"off by", Align::kRight},
                     {""}});
    for (const TestedPrediction& each : history.tested) table.add_row(row_of(each));
    text = table.text() + "\n";
  }
  for (const std::string& words : ui::present::history_words(history)) text += words + "\n";
  return text;
}

}  // namespace shardlens::app::report
