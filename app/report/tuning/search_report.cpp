#include "app/report/tuning/search_report.h"

#include <cmath>

#include "app/report/text_table.h"
#include "ui/present/format.h"

namespace shardlens::app::report {
namespace {

using search::Goal;

// As the goal has its name: milliseconds, tokens per second, bytes.
std::optional<double> in_units(const std::optional<double>& cost, Goal goal) {
  if (!cost) return std::nullopt;
  if (goal == Goal::kMemory) return std::round(*cost);
  return goal == Goal::kStepTime ? *cost / 1e6 : 1e9 / *cost;
}

std::string unit_name(Goal goal) {
  switch (goal) {
    case Goal::kStepTime:
      return "ms";
    case Goal::kTokenRate:
      return "tokens_per_s";
    case Goal::kMemory:
      break;
  }
  return "bytes";
}

Json varied_settings(const SearchReport& report, std::size_t point) {
  Json settings = Json::object();
  for (const auto* knob : report.plan.points.varied) {
    settings[std::string(knob->name)] = knob_json(report.plan.points.settings[point], *knob);
  }
  return settings;
}

Json side_json(const SearchReport& report, std::size_t point, const std::optional<double>& cost) {
  Json runs = Json::array();
  for (const auto& [slot, result] : report.results) {
    if (slot.point == point && result.measure) runs.push_back(result.run);
  }
  return {{"settings", varied_settings(report, point)},
          {"value", optional_number(in_units(cost, report.job.goal))},
          {"runs", std::move(runs)}};
}

std::optional<double> measured_cost(const SearchReport& report, const sweep::Slot& slot) {
  const auto found = report.results.find(slot);
  if (found == report.results.end() || !found->second.measure) return std::nullopt;
  return search::cost_of(*found->second.measure, report.job.goal);
}

Json run_json(const SearchReport& report, const SearchRun& run) {
  const auto found = report.results.find(run.slot);
  const bool has_failed = found != report.results.end() && !found->second.measure;
  return {{"run", found == report.results.end() ? Json(nullptr) : text_or_null(found->second.run)},
          {"settings", varied_settings(report, run.slot.point)},
          {"why", run.why ? Json(why_text(*run.why)) : Json(nullptr)},
          {"predicted", optional_number(in_units(run.predicted, report.job.goal))},
          {"measured", optional_number(in_units(measured_cost(report, run.slot), report.job.goal))},
          {"failure", has_failed ? Json(found->second.failure) : Json(nullptr)}};
}

// Why a point was not run; "" of one that was.
std::string why_not(const SearchReport& report, std::size_t point) {
  const search::Belief& belief = report.beliefs[point];
  if (belief.runs > 0 || belief.has_failed) return "";
  if (!belief.fits) return "would not fit in memory";
  if (!belief.cost) return belief.refused.empty() ? "nothing is known of it" : belief.refused;
  return "predicted " + cost_text(*belief.cost, report.job.goal) + " ± " +
         ui::present::format_percent(1.96 * belief.deviation / *belief.cost).text() +
         ", which is not likely to win";
}

std::optional<double> percent(const std::optional<double>& part) {
  return part ? std::optional(100 * *part) : std::nullopt;
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
  return {{"mean", optional_number(percent(mean))},
          {"low", optional_number(percent(low))},
          {"high", optional_number(percent(high))}};
}

std::string assignments(const SearchReport& report, std::size_t point) {
  std::string text;
  const auto& settings = report.plan.points.settings;
  for (const auto* knob : report.plan.points.varied) {
    const std::string value = trace::job::value_text(settings[point], *knob);
    if (value == trace::job::value_text(settings[report.job.base], *knob)) continue;
    text +=
        (text.empty() ? "" : " ") + std::string("--set ") + std::string(knob->name) + "=" + value;
  }
  return text;
}

// How the best stands to the start, in a sentence.
std::string verdict(const SearchReport& report) {
  if (!report.outcome) return "The settings that it starts from could not be measured.";
  const search::Outcome& outcome = *report.outcome;
  const Goal goal = report.job.goal;
  const std::string start = cost_text(*outcome.base_cost, goal);
  if (!outcome.change) {
    return "Nothing better was found than the settings that it started from: " + start + ".";
  }
  const std::string best = sweep::point_text(report.plan.points, outcome.best);
  std::string text = best + ": " + cost_text(*outcome.best_cost, goal) + " instead of " + start;
  const std::string_view less = goal == Goal::kMemory      ? " less"
                                : goal == Goal::kTokenRate ? " less time per token"
                                                           : " less time per step";
  const auto share = [](double part) { return ui::present::format_percent(std::abs(part)).text(); };
  if (!outcome.half_width) {
    return text + ", " + share(*outcome.change) + std::string(less) +
           ", by one run each: how sure that is, is not known.";
  }
  text += ", " + ui::present::format_signed_percent(*outcome.change) + " ± " +
          share(*outcome.half_width) + " (95 %)";
  return text + (outcome.is_sure() ? "." : ": not told from the start beyond noise.");
}

std::string runs_table(const SearchReport& report) {
  TextTable table({{"settings", Align::kLeft, 60},
                   {"predicted", Align::kRight},
                   {"measured", Align::kRight},
                   {"why"}});
  const auto cell = [&](const std::optional<double>& cost) {
    return cost ? cost_text(*cost, report.job.goal) : "";
  };
  for (const SearchRun& run : report.runs) {
    const auto measured = measured_cost(report, run.slot);
    table.add_row({sweep::point_text(report.plan.points, run.slot.point), cell(run.predicted),
                   measured ? cell(measured) : "failed",
                   run.why ? std::string(why_text(*run.why)) : "of an earlier start"});
  }
  return table.text();
}

}  // namespace

std::string cost_text(double cost, Goal goal) {
  if (goal == Goal::kMemory) return ui::present::format_bytes(cost).text();
  if (goal == Goal::kStepTime) return ui::present::format_duration(cost).text();
  return ui::present::format_rate(1e9 / cost, "tokens/s").text();
}

std::string_view why_text(search::Why why) {
  switch (why) {
    case search::Why::kStart:
      return "the start";
    case search::Why::kPromising:
      return "may win";
    case search::Why::kUnknown:
      return "nothing is known of it";
    case search::Why::kConfirms:
      break;
  }
  return "confirms";
}

Json search_json(const SearchReport& report) {
  Json runs = Json::array(), not_tried = Json::array();
  for (const SearchRun& run : report.runs) runs.push_back(run_json(report, run));
  for (std::size_t i = 0; i < report.beliefs.size(); ++i) {
    const std::string why = why_not(report, i);
    if (why.empty()) continue;
    not_tried.push_back(
        {{"settings", varied_settings(report, i)},
         {"predicted", optional_number(in_units(report.beliefs[i].cost, report.job.goal))},
         {"why", why}});
  }
  const auto& outcome = report.outcome;
  return {{"schema", 1},
          {"name", report.plan.name},
          {"goal", std::string(search::to_string(report.job.goal))},
          {"unit", unit_name(report.job.goal)},
          {"status", report.status},
          {"reason", report.reason},
          {"points", report.plan.points.settings.size()},
          {"start", side_json(report, report.job.base,
                              outcome ? outcome->base_cost : std::optional<double>())},
          {"best", outcome ? side_json(report, outcome->best, outcome->best_cost) : Json(nullptr)},
          {"change_percent", change_json(outcome)},
          {"is_sure", outcome && outcome->is_sure()},
          {"verdict", verdict(report)},
          {"apply", outcome ? Json(assignments(report, outcome->best)) : Json(nullptr)},
          {"runs", std::move(runs)},
          {"not_tried", std::move(not_tried)},
          {"seconds", report.seconds},
          {"banners", report.banners}};
}

std::string search_text(const SearchReport& report) {
  std::string text = verdict(report) + "\n";
  if (report.outcome && report.outcome->change) {
    text += "Use it: " + assignments(report, report.outcome->best) + "\n";
  }
  text += "\n" + runs_table(report) + "\n" + report.reason + "\n";
  std::size_t shown = 0, more = 0;
  for (std::size_t i = 0; i < report.beliefs.size(); ++i) {
    const std::string why = why_not(report, i);
    if (why.empty()) continue;
    constexpr std::size_t kShown = 12;
    if (shown == kShown) {
      ++more;
      continue;
    }
    ++shown;
    text += "Not tried: " + sweep::point_text(report.plan.points, i) + ", " + why + "\n";
  }
  if (more > 0) text += "… and " + std::to_string(more) + " more (--json has all)\n";
  return text;
}

}  // namespace shardlens::app::report
