#include "app/report/tuning/points_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/report/text_table.h"
#include "app/report/tuning/prediction_report.h"
#include "trace/base/number_text.h"
#include "trace/base/spawn.h"
#include "trace/base/text.h"
#include "trace/timeline/words/interval_text.h"
#include "trace/tuning/prediction.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::app::report {
namespace {

using trace::tuning::Prediction;

constexpr std::size_t kNamedPoints = 4;  // where many are refused for one reason
// What a search varies with sharded strategies is seen as a whole: points differ in any part of it.
constexpr std::size_t kLongestSettings = 120;

std::string assignment_text(const PredictedPoint& point, const trace::job::Knob& knob) {
  return std::string(knob.name) + "=" + trace::job::value_text(point.settings, knob);
}

std::string settings_text(const PredictedPoint& point) {
  const auto text = trace::base::joined(
      point.varied, ", ", [&](const auto* knob) { return assignment_text(point, *knob); });
  return text.empty() ? "as recorded" : text;
}

// " --set a=b --set c=d": what it takes beyond the recorded settings.
std::string changes_to_set(const PredictedPoint& point) {
  std::string text;
  for (const auto& change : point.prediction->changes) {
    if (change.is_implied) continue;
    text += " --set " + trace::base::in_shell(assignment_text(point, *change.knob));
  }
  return text;
}

Json settings_of_point(const PredictedPoint& point) {
  Json settings = Json::object();
  for (const auto* knob : point.varied) {
    settings[std::string(knob->name)] = knob_json(point.settings, *knob);
  }
  return settings;
}

Json predicted_point_json(const PredictedPoint& point) {
  Json json = {{"settings", settings_of_point(point)},
               {"refused", text_or_null(point.refused)},
               {"predicted", nullptr}};
  if (!point.prediction) return json;
  json["predicted"] = predicted_json(*point.prediction, point.usable_bytes, point.fits());
  json["predicted"]["bound_by"] = point.bound_by;
  return json;
}

const Prediction& first_prediction(const PredictedPoints& all) {
  return *all.ranked.front().prediction;
}

// "3 points of 4 predicted from it"
std::string count_text(const PredictedPoints& all) {
  const std::size_t count = all.ranked.size();
  const auto predicted = static_cast<std::size_t>(std::ranges::count_if(
      all.ranked, [](const PredictedPoint& point) { return point.prediction.has_value(); }));
  return trace::base::counted(predicted, "point") +
         (predicted < count ? " of " + std::to_string(count) : "") + " predicted from it";
}

std::string interval_of(const Prediction& prediction) {
  const auto& interval = prediction.interval;
  return interval ? trace::timeline::duration_range_text(interval->low_ns, interval->high_ns) : "";
}

std::string fits_text(const PredictedPoint& point) {
  const auto fits = point.fits();
  return !fits ? "" : *fits ? "yes" : "no";
}

std::string points_table(const PredictedPoints& all) {
  const bool has_tokens = std::ranges::any_of(all.ranked, [](const PredictedPoint& point) {
    return point.prediction && point.prediction->tokens != 1;
  });
  std::vector<TextTable::Column> columns{{"settings", Align::kLeft, kLongestSettings, true},
                                         {"step", Align::kRight},
                                         {"95 %", Align::kRight},
                                         {"difference", Align::kRight}};
  if (has_tokens) columns.push_back({"per token", Align::kRight});
  for (const char* heading : {"exposed", "peak", "fits"}) {
    columns.push_back({heading, Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const PredictedPoint& point : all.ranked) {
    if (!point.prediction) continue;
    const Prediction& prediction = *point.prediction;
    std::vector<std::string> cells{settings_text(point), time_text(prediction.step_ns),
                                   interval_of(prediction),
                                   ui::present::difference_text(prediction)};
    if (has_tokens) cells.push_back(ui::present::per_token_text(prediction));
    cells.push_back(prediction.exposed_ns ? time_text(*prediction.exposed_ns) : "");
    const auto peak = prediction.peak_bytes();
    cells.push_back(peak ? size_text(static_cast<double>(*peak)) : "");
    cells.push_back(fits_text(point));
    table.add_row(std::move(cells));
  }
  return table.text();
}

// Each reason once, with the points that have it.
std::string refusals_text(const PredictedPoints& all) {
  using Refusal = std::pair<std::string, std::vector<std::string>>;
  std::vector<Refusal> by_reason;
  for (const PredictedPoint& point : all.ranked) {
    if (point.prediction) continue;
    auto found = std::ranges::find(by_reason, point.refused, &Refusal::first);
    if (found == by_reason.end()) found = by_reason.insert(found, Refusal{point.refused, {}});
    found->second.push_back(settings_text(point));
  }
  std::string text;
  for (auto& [reason, points] : by_reason) {
    const std::size_t more = points.size() - std::min(points.size(), kNamedPoints);
    points.resize(points.size() - more);
    text += "Not predicted: " + trace::base::joined(points, "; ") +
            (more > 0 ? " and " + std::to_string(more) + " more" : "") + ": " + reason + "\n";
  }
  return text;
}

// Of the differences in the table that have no interval. All are of one run, whose steps tell why.
std::string unsure_text(const PredictedPoints& all) {
  for (const PredictedPoint& point : all.ranked) {
    if (!point.prediction) continue;
    const std::string why = trace::tuning::why_unsure(*point.prediction);
    if (!why.empty()) return why + "\n";
  }
  return "";
}

// Of the point in front.
std::string best_text(const PredictedPoints& all, const std::string& command) {
  const PredictedPoint& best = all.ranked.front();
  std::string text = "The first: " + best.bound_by;
  for (const std::string& note : ui::present::assumptions(*best.prediction)) text += " " + note;
  const std::string changes = changes_to_set(best);
  if (!changes.empty()) text += "\nIn detail: " + command + changes;
  return text + "\n";
}

}  // namespace

Json points_json(const PredictedPoints& all) {
  const Prediction& first = first_prediction(all);
  return {{"schema", 1},
          {"run", all.info.name},
          {"refused", nullptr},
          {"recorded", recorded_json(first)},
          {"runs_apart_ms", optional_number(all.apart, ms(first.recorded_step_ns))},
          {"points", array_of(all.ranked, predicted_point_json)}};
}

std::string points_text(const PredictedPoints& all, const std::string& command) {
  const double recorded_ns = first_prediction(all).recorded_step_ns;
  std::string text = all.info.name + ": " + count_text(all) + ", which took " +
                     time_text(recorded_ns) + " per step\n\n" + points_table(all) + "\n" +
                     unsure_text(all) + best_text(all, command);
  if (all.apart) {
    text += "Two runs of the same settings differ by chance by up to " +
            time_text(*all.apart * recorded_ns) + " (95 %).\n";
  }
  return text + refusals_text(all);
}

}  // namespace shardlens::app::report
