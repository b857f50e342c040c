#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "app/report/tuning/prediction_report.h"
#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"

namespace shardlens::app::report {
namespace {

using ui::present::PredictionHistory;
using ui::present::TestedPrediction;

std::vector<std::string> words_of(const PredictionHistory& history) {
  auto words = ui::present::history_words(history);
  if (!history.tested.empty()) return words;
  words.emplace_back(
      "Start a run with `shardlens run --predict-from RUN` and other settings than RUN had: "
      "what is predicted then is kept with it and stands here beside what it took.");
  return words;
}

Json tested_json(const TestedPrediction& tested) {
  return {{"run", tested.run},
          {"name", tested.name},
          {"from", tested.from},
          {"predicted_ms", estimate_ms(tested.predicted_ns, tested.interval)},
          {"measured_ms", ms(tested.measured_ns)},
          {"error", tested.error()},
          {"within", known(tested.interval.has_value(), tested.is_within())}};
}

std::vector<std::string> row_of(const TestedPrediction& tested) {
  const auto& interval = tested.interval;
  return {tested.run,
          tested.name,
          tested.from,
          time_text(tested.predicted_ns),
          interval ? trace::timeline::duration_range_text(interval->low_ns, interval->high_ns) : "",
          time_text(tested.measured_ns),
          ui::present::format_signed_percent(tested.error()),
          !interval            ? ""
          : tested.is_within() ? "within"
                               : "outside"};
}

}  // namespace

Json history_json(const PredictionHistory& history) {
  return {{"schema", 1},
          {"predictions", array_of(history.tested, tested_json)},
          {"untested", history.untested},
          {"with_interval", history.with_interval},
          {"within", history.within},
          {"median_error", or_null(history.median_error)},
          {"took_longer", history.took_longer},
          {"words", words_of(history)}};
}

std::string history_text(const PredictionHistory& history) {
  std::string text;
  if (!history.tested.empty()) {
    TextTable table({{"run"},
                     {.heading = "name", .is_name = true},
                     {.heading = "predicted from", .is_name = true},
                     {"predicted", Align::kRight},
                     {"95 %", Align::kRight},
                     {"measured", Align::kRight},
                     {"off by", Align::kRight},
                     {""}});
    for (const TestedPrediction& each : history.tested) table.add_row(row_of(each));
    text = table.text() + "\n";
  }
  for (const std::string& words : words_of(history)) text += words + "\n";
  return text;
}

}  // namespace shardlens::app::report
