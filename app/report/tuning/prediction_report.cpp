#include "app/report/tuning/prediction_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/base/number_text.h"
#include "trace/base/spawn.h"
#include "trace/base/text.h"
#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::app::report {
namespace {

using trace::tuning::Prediction;

constexpr std::size_t kNamedPoints = 4;  // where many are refused for one reason
// What a search varies with sharded strategies is seen as a whole: points differ in any part of it.
constexpr std::size_t kLongestSettings = 120;

double since_begin(const PredictedRun& run, std::int64_t time_ns) {
  return static_cast<double>(time_ns - run.step.start_ns);
}

std::string changes_text(const PredictedRun& run) {
  const auto text = trace::base::joined(run.prediction.changes, ", ", ui::present::change_text);
  if (!run.prediction.has_other_costs) return text.empty() ? "nothing changed" : text;
  return text + (text.empty() ? "" : ", ") + "other costs of collectives";
}

Json names_json(const std::vector<const trace::job::Knob*>& knobs) {
  return array_of(knobs, [](const auto* knob) { return knob->name; });
}

// What else was changed, and does not count.
std::string other_changes_text(const Prediction& prediction) {
  std::string text;
  for (const std::string& words :
       {ui::present::left_out_text(prediction), ui::present::without_effect_text(prediction)}) {
    if (!words.empty()) text += words + "\n";
  }
  return text;
}

std::string calls_text(const PredictedRun& run) {
  TextTable table({{"collective"},
                   {"size", Align::kRight},
                   {"ready", Align::kRight},
                   {"starts", Align::kRight},
                   {"ends", Align::kRight},
                   {"waited for", Align::kRight}});
  const auto& calls = run.step.schedule.calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& planned = run.step.program.calls[calls[i].call];
    const double waited = ui::present::waited_ns(run.step, i);
    table.add_row({planned.what, size_text(static_cast<double>(planned.bytes)),
                   time_text(since_begin(run, calls[i].ready_ns)),
                   time_text(since_begin(run, calls[i].start_ns)),
                   time_text(since_begin(run, calls[i].end_ns)),
                   waited > 0 ? time_text(waited) : ""});
  }
  return table.text();
}

// Collectives, the same on all ranks, and what the rank does that ends last.
Json schedule_json(const PredictedRun& run) {
  Json events = Json::array();
  const auto& schedule = run.step.schedule;
  for (std::size_t i = 0; i < schedule.calls.size(); ++i) {
    const auto& call = schedule.calls[i];
    const auto& planned = run.step.program.calls[call.call];
    events.push_back({{"rank", nullptr},
                      {"lane", "communication"},
                      {"what", planned.what},
                      {"function", trace::model::to_string(planned.function)},
                      {"bytes", planned.bytes},
                      {"tensors", known(planned.tensors > 0, planned.tensors)},
                      {"ready_ms", ms(since_begin(run, call.ready_ns))},
                      {"start_ms", ms(since_begin(run, call.start_ns))},
                      {"end_ms", ms(since_begin(run, call.end_ns))},
                      {"exposed", ui::present::waited_ns(run.step, i) > 0}});
  }
  for (const auto& piece : ui::present::predicted_ribbon(run.step)) {
    const bool waits = piece.bar_class == trace::base::TimeClass::kExposed;
    events.push_back({{"rank", schedule.rank},
                      {"lane", "compute"},
                      {"what", waits ? "waits for collectives" : "computes"},
                      {"start_ms", ms(since_begin(run, piece.time.start_ns))},
                      {"end_ms", ms(since_begin(run, piece.time.end_ns))},
                      {"exposed", waits}});
  }
  return events;
}

// Of as many steps.
std::string why_not_told(std::int64_t steps) {
  const bool are_few = steps < trace::analysis::kFewestWithError;
  return are_few ? trace::base::counted(steps, "step") + " are too few" : "steps drift";
}

// Why a figure has no interval.
std::string why_not_sure(const Prediction& prediction) {
  return why_not_told(prediction.is_as_recorded() ? prediction.recorded_steps : prediction.steps) +
         ": how sure is not known";
}

// Beside the step's time.
std::string interval_text(const Prediction& prediction) {
  if (prediction.interval) {
    return "95 %: " + trace::timeline::duration_range_text(prediction.interval->low_ns,
                                                           prediction.interval->high_ns);
  }
  if (!prediction.difference) return why_not_sure(prediction);
  return why_not_told(prediction.recorded_steps) + ": how sure is known of the difference alone";
}

// What bounds the step: before and after.
std::string bounds_text(const PredictedRun& run) {
  const std::string predicted = ui::present::bound_text(run.step);
  if (run.prediction.is_as_recorded()) return predicted;
  return "As recorded: " + ui::present::bound_text(run.recorded_step) + "\nPredicted: " + predicted;
}

// Beside the peak.
std::string shortage_text(const PredictedRun& run) {
  if (run.fits() != false) return "";
  if (run.usable_bytes <= 1) return "nothing is left of the memory there";
  return "more than the " + size_text(static_cast<double>(run.usable_bytes)) + " a rank has there";
}

// What is predicted without its schedule, and the run's own.
Json predicted_json(const Prediction& prediction, std::int64_t usable_bytes,
                    const std::optional<bool>& fits) {
  Json changed = Json::object();
  for (const auto& change : prediction.changes) {
    changed[std::string(change.knob->name)] = change.after;
  }
  return {{"changed", std::move(changed)},
          {"left_out", names_json(prediction.left_out)},
          {"without_effect", names_json(prediction.without_effect)},
          {"step_ms", estimate_ms(prediction.step_ns, prediction.interval)},
          {"difference_ms", estimate_ms(prediction.difference_ns(), prediction.difference)},
          {"samples_ratio", prediction.samples},
          {"tokens_ratio", prediction.tokens},
          {"exposed_ms", optional_ms(prediction.exposed_ns)},
          {"wait_ms", nullptr},  // how late a rank will be is not predicted
          {"peak_memory_bytes", or_null(prediction.peak_bytes())},
          {"usable_memory_bytes", known(usable_bytes > 0, usable_bytes)},
          {"fits", or_null(fits)},
          {"assumptions", ui::present::assumptions(prediction)}};
}

Json recorded_json(const Prediction& prediction) {
  return {{"step_ms", ms(prediction.recorded_step_ns)},
          {"exposed_ms", optional_ms(prediction.recorded_exposed_ns)},
          {"peak_memory_bytes", or_null(prediction.recorded_peak_bytes())},
          {"steps", prediction.steps}};
}

// ---- many settings ------------------------------------------------------------------------------

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

Json predicted_point_json(const PredictedPoint& point) {
  Json json = {{"settings", knobs_json(point.settings, point.varied)},
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

// What the figures of any point leave out.
std::string left_out_text(const PredictedPoints& all) {
  Prediction any;
  for (const PredictedPoint& point : all.ranked) {
    if (!point.prediction) continue;
    for (const auto* knob : point.prediction->left_out) {
      if (std::ranges::find(any.left_out, knob) == any.left_out.end()) any.left_out.push_back(knob);
    }
  }
  return other_changes_text(any);
}

// Why differences in the table have no interval. All are of one run, so that one reason stands for
// all.
std::string unsure_text(const PredictedPoints& all) {
  for (const PredictedPoint& point : all.ranked) {
    if (!point.prediction) continue;
    const std::string why = trace::tuning::why_unsure(*point.prediction);
    if (!why.empty()) return why + "\n";
  }
  return "";
}

// What is to be said of the best point, which is the first.
std::string best_text(const PredictedPoints& all, const std::string& command) {
  const PredictedPoint& best = all.ranked.front();
  std::string text = "The first: " + best.bound_by;
  for (const std::string& note : ui::present::assumptions(*best.prediction)) text += " " + note;
  const std::string changes = changes_to_set(best);
  if (!changes.empty()) text += "\nIn detail: " + command + changes;
  return text + "\n";
}

}  // namespace

Json prediction_json(const PredictedRun& run) {
  const auto& prediction = run.prediction;
  Json json = {{"schema", 1}, {"run", run.info.name}, {"refused", nullptr}};
  json.update(predicted_json(prediction, run.usable_bytes, run.fits()));
  Json in_program = Json::object();
  for (const auto& [knob, text] : run.in_program) in_program[std::string(knob->name)] = text;
  json["in_program"] = std::move(in_program);
  json["runs_apart_ms"] = optional_number(run.apart, ms(prediction.recorded_step_ns));
  json["recorded"] = recorded_json(prediction);
  json["recorded"]["bound_by"] = ui::present::bound_text(run.recorded_step);
  json["bound_by"] = ui::present::bound_text(run.step);
  json["step"] = run.step.index;
  json["schedule"] = schedule_json(run);
  return json;
}

Json refused_json(const std::string& run, const std::string& reason) {
  return {{"schema", 1}, {"run", run}, {"refused", reason}};
}

std::string prediction_text(const PredictedRun& run) {
  const auto& prediction = run.prediction;
  std::string text =
      run.info.name + ": " + changes_text(run) + "\n" + other_changes_text(prediction) + "\n";
  TextTable table({{""}, {"recorded", Align::kRight}, {"predicted", Align::kRight}, {""}});
  table.add_row({"Step", time_text(prediction.recorded_step_ns), time_text(prediction.step_ns),
                 interval_text(prediction)});
  if (!prediction.is_as_recorded()) {
    const bool is_unsure = prediction.interval && !prediction.difference;
    const std::string same =
        prediction.moves_the_same ? ui::present::parts_text(prediction) : std::string();
    table.add_row({"Difference", "", ui::present::difference_text(prediction),
                   is_unsure ? why_not_sure(prediction) : same});
  }
  if (run.apart) {
    table.add_row({"By chance", "", "± " + time_text(*run.apart * prediction.recorded_step_ns),
                   "two runs of the same settings, 95 %"});
  }
  if (prediction.tokens != 1) {
    table.add_row({prediction.tokens == prediction.samples ? "Per sample" : "Per token", "",
                   ui::present::per_token_text(prediction), ""});
  }
  if (prediction.exposed_ns) {
    table.add_row({"Exposed", time_text(*prediction.recorded_exposed_ns),
                   time_text(*prediction.exposed_ns), ""});
  }
  if (prediction.peak_bytes()) {
    table.add_row({"Peak of tensors",
                   size_text(static_cast<double>(*prediction.recorded_peak_bytes())),
                   size_text(static_cast<double>(*prediction.peak_bytes())), shortage_text(run)});
  }
  text += table.text() + "\n" + bounds_text(run) + "\n\nCollectives of a typical step (" +
          std::to_string(run.step.index) + "), from its begin\n" + calls_text(run) + "\nFrom " +
          std::to_string(prediction.steps) + " recorded steps.";
  for (const std::string& note : ui::present::assumptions(prediction)) text += " " + note;
  if (!run.in_program.empty()) text += "\n\nIn the program:\n";
  for (const auto& [knob, words] : run.in_program) text += "  " + words + "\n";
  return text + (run.in_program.empty() ? "\n" : "");
}

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
                     left_out_text(all) + unsure_text(all) + best_text(all, command);
  if (all.apart) {
    text += "Two runs of the same settings differ by chance by up to " +
            time_text(*all.apart * recorded_ns) + " (95 %).\n";
  }
  return text + refusals_text(all);
}

}  // namespace shardlens::app::report
