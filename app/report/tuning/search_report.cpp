#include "app/report/tuning/search_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "app/search/search_words.h"
#include "trace/base/median.h"
#include "trace/base/spawn.h"

namespace shardlens::app::report {
namespace {

using search::Goal;

// As the goal has its name: milliseconds, tokens per second, bytes.
std::optional<double> in_units(const std::optional<double>& cost, Goal goal) {
  if (!cost) return std::nullopt;
  if (goal == Goal::kMemory) return std::round(*cost);
  return goal == Goal::kStepTime ? *cost / 1e6 : 1e9 / *cost;
}

// The unit of a goal's values, and what `change_percent` is of: it falls where the best is better.
struct GoalNames {
  const char *unit, *changed;
};
GoalNames names_of(Goal goal) {
  switch (goal) {
    case Goal::kStepTime:
      return {"ms", "time_per_step"};
    case Goal::kTokenRate:
      return {"tokens_per_s", "time_per_token"};
    case Goal::kMemory:
      break;
  }
  return {"bytes", "memory"};
}

// Of what varies those that the point's strategy obeys.
Json varied_settings(const SearchReport& report, std::size_t point) {
  const auto& points = report.plan.points;
  return knobs_json(points.settings[point], sweep::obeyed_knobs(points, point));
}

Json side_json(const SearchReport& report, std::size_t point, const std::optional<double>& cost) {
  Json runs = Json::array();
  for (const auto& [slot, result] : report.results) {
    if (slot.point == point && result.measure) runs.push_back(result.run);
  }
  return {{"settings", varied_settings(report, point)},
          {"value", optional_number(in_units(cost, report.goal()))},
          {"step_ms", report.goal() == Goal::kStepTime ? optional_ms(cost) : Json(nullptr)},
          {"runs", std::move(runs)}};
}

std::optional<double> measured_cost(const SearchReport& report, const sweep::Slot& slot) {
  const auto found = report.results.find(slot);
  if (found == report.results.end() || !found->second.measure) return std::nullopt;
  return search::cost_of(*found->second.measure, report.goal());
}

Json run_json(const SearchReport& report, const search::SearchRun& run) {
  const auto found = report.results.find(run.slot);
  const bool has_failed = found != report.results.end() && !found->second.measure;
  std::optional<double> predicted;
  if (found != report.results.end() && found->second.predicted) {
    predicted = in_units(found->second.predicted->cost, report.goal());
  }
  return {{"run", found == report.results.end() ? Json(nullptr) : text_or_null(found->second.run)},
          {"settings", varied_settings(report, run.slot.point)},
          {"why", run.why ? Json(search::why_text(*run.why)) : Json(nullptr)},
          {"predicted", optional_number(predicted)},
          {"measured", optional_number(in_units(measured_cost(report, run.slot), report.goal()))},
          {"failure", has_failed ? Json(found->second.failure) : Json(nullptr)}};
}

// Of what ran the best first, as points of a sweep: of another goal what steps took is a mean of
// which nothing is told how sure it is.
Json tried_json(const SearchReport& report) {
  const bool is_of_steps = report.goal() == Goal::kStepTime;
  Json tried = Json::array();
  for (const std::size_t point : search::best_first(report.standing.beliefs)) {
    const search::Belief& belief = report.standing.beliefs[point];
    if (belief.runs == 0 && !belief.has_failed) continue;
    Json names = Json::array();
    std::vector<double> steps_ns;
    std::optional<double> peak_bytes;
    for (const auto& [slot, result] : report.results) {
      if (slot.point != point || !result.measure) continue;
      names.push_back(result.run);
      steps_ns.push_back(result.measure->step_ns);
      const auto& peak = result.measure->peak_memory_bytes;
      if (peak) peak_bytes = std::max(*peak, peak_bytes.value_or(0));
    }
    std::optional<double> step_ns;
    if (!steps_ns.empty()) step_ns = trace::base::mean_of(steps_ns);
    Json predicted = nullptr;
    if (is_of_steps && belief.predicted) {
      std::optional<double> half_width;
      if (belief.predicted->is_sure()) half_width = belief.predicted->half_width;
      predicted = estimate_ms_within(belief.predicted->cost, half_width);
    }
    std::optional<double> half_width;
    if (is_of_steps) half_width = belief.half_width;
    tried.push_back({{"settings", varied_settings(report, point)},
                     {"runs", std::move(names)},
                     {"step_ms", estimate_ms_within(step_ns, half_width)},
                     {"peak_memory_bytes", optional_bytes(peak_bytes)},
                     {"predicted_ms", std::move(predicted)},
                     {"stopped_early", false}});
  }
  return tried;
}

// By how much the best shortens a step; null where the goal is another.
Json gain_json(const SearchReport& report) {
  const auto& outcome = report.standing.outcome;
  if (!outcome || !outcome->change || !outcome->base_cost || report.goal() != Goal::kStepTime) {
    return estimate_ms({}, {});
  }
  const double gain_ns = -*outcome->change * *outcome->base_cost;
  std::optional<double> half_ns;
  if (outcome->half_width) half_ns = *outcome->half_width * *outcome->base_cost;
  return estimate_ms_within(gain_ns, half_ns);
}

Json change_json(const std::optional<search::Outcome>& outcome) {
  std::optional<double> mean, low, high;
  if (outcome && outcome->change) {
    mean = outcome->change;
    if (outcome->half_width) {
      low = *mean - *outcome->half_width;
      high = *mean + *outcome->half_width;
    }
  }
  return estimate_percent(mean, low, high);
}

std::string assignments(const SearchReport& report, std::size_t point) {
  std::string text;
  const auto& settings = report.plan.points.settings;
  for (const auto* knob : sweep::obeyed_knobs(report.plan.points, point)) {
    const std::string value = trace::job::value_text(settings[point], *knob);
    if (value == trace::job::value_text(settings[sweep::kSearchStart], *knob)) continue;
    text += std::string(text.empty() ? "" : " ") + "--set " +
            trace::base::in_shell(std::string(knob->name) + "=" + value);
  }
  return text;
}

// "523.3 ms, 1.01 s", in the order of rounds.
std::string runs_text(const SearchReport& report, std::size_t point) {
  std::string text;
  for (const auto& [slot, result] : report.results) {
    if (slot.point != point) continue;
    const auto cost = measured_cost(report, slot);
    text += (text.empty() ? "" : ", ") +
            (cost ? search::cost_text(*cost, report.goal()) : std::string("failed"));
  }
  return text;
}

// Why the point's first run was made.
std::string why_text(const SearchReport& report, std::size_t point) {
  if (point == sweep::kSearchStart) return std::string(search::why_text(search::Why::kStart));
  const auto first = std::ranges::find(report.runs, point,
                                       [](const search::SearchRun& run) { return run.slot.point; });
  const bool is_known = first != report.runs.end() && first->why;
  return is_known ? std::string(search::why_text(*first->why)) : "of an earlier start";
}

// What was run, the best first.
std::string points_table(const SearchReport& report) {
  TextTable table({{"settings", Align::kLeft, 60},
                   {"predicted", Align::kRight},
                   {"mean", Align::kRight},
                   {"runs"},
                   {"why"}});
  const search::Goal goal = report.goal();
  for (const std::size_t point : search::best_first(report.standing.beliefs)) {
    const search::Belief& belief = report.standing.beliefs[point];
    if (belief.runs == 0 && !belief.has_failed) continue;
    const auto& predicted = belief.predicted;
    std::string mean;
    if (belief.runs > 0) {
      mean = belief.half_width ? search::estimate_text(*belief.cost, *belief.half_width, goal)
                               : search::cost_text(*belief.cost, goal);
    }
    table.add_row({sweep::obeyed_text(report.plan.points, point),
                   predicted ? search::predicted_text(*predicted, goal) : "", std::move(mean),
                   runs_text(report, point), why_text(report, point)});
  }
  return table.text();
}

}  // namespace

Json search_json(const SearchReport& report) {
  Json not_tried = Json::array();
  for (std::size_t i = 0; i < report.standing.beliefs.size(); ++i) {
    const std::string why = search::why_not_text(report.standing.beliefs[i], report.goal());
    if (why.empty()) continue;
    not_tried.push_back(
        {{"settings", varied_settings(report, i)},
         {"predicted", optional_number(in_units(report.standing.beliefs[i].cost, report.goal()))},
         {"why", why}});
  }
  const auto& outcome = report.standing.outcome;
  return {{"schema", 1},
          {"name", report.plan.name},
          {"goal", std::string(search::to_string(report.goal()))},
          {"unit", names_of(report.goal()).unit},
          {"status", report.status},
          {"reason", report.reason},
          {"points", report.plan.points.settings.size()},
          {"start", side_json(report, sweep::kSearchStart,
                              outcome ? outcome->base_cost : std::optional<double>())},
          {"best", outcome ? side_json(report, outcome->best, outcome->best_cost) : Json(nullptr)},
          {"gain_ms", gain_json(report)},
          {"change_of", names_of(report.goal()).changed},
          {"change_percent", change_json(outcome)},
          {"is_sure", outcome && outcome->is_sure()},
          {"verdict", search::verdict_text(report.plan, report.results, report.standing.outcome)},
          {"apply", outcome ? Json(assignments(report, outcome->chosen())) : Json(nullptr)},
          {"tried", tried_json(report)},
          {"stopped_because", report.reason},
          {"runs", array_of(report.runs, [&](const auto& run) { return run_json(report, run); })},
          {"not_tried", std::move(not_tried)},
          {"seconds", report.seconds},
          {"banners", report.banners}};
}

std::string search_text(const SearchReport& report) {
  std::string text =
      search::verdict_text(report.plan, report.results, report.standing.outcome) + "\n";
  if (const auto& outcome = report.standing.outcome; outcome && outcome->is_better()) {
    text += outcome->is_sure() ? "Use it: " : "To use it, though that is not sure: ";
    text += assignments(report, outcome->best) + "\n";
  }
  text += "\n" + points_table(report) + "\n" + report.reason + "\n";
  std::size_t shown = 0, more = 0;
  for (const std::size_t i : search::best_first(report.standing.beliefs)) {
    const std::string why = search::why_not_text(report.standing.beliefs[i], report.goal());
    if (why.empty()) continue;
    constexpr std::size_t kShown = 12;
    if (shown == kShown) {
      ++more;
      continue;
    }
    ++shown;
    text += "Not tried: " + sweep::obeyed_text(report.plan.points, i) + ", " + why + "\n";
  }
  if (more > 0) text += "… and " + std::to_string(more) + " more (--json has all)\n";
  return text;
}

}  // namespace shardlens::app::report
