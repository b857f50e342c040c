#include "app/report/tuning/sweep_report.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "trace/base/number_text.h"
#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::app::report {
namespace {

using sweep::Goal;
using sweep::PointVerdict;
using sweep::Standing;

constexpr std::size_t kLongestValue = 40;  // of a knob, in the table

Json slower_json(const PointVerdict& point) {
  std::optional<double> low, high;
  if (point.bounds) low = point.bounds->low, high = point.bounds->high;
  return estimate_percent(point.slower_by, low, high);
}

Json point_json(const SweepReport& report, std::size_t i) {
  const PointVerdict& point = report.verdict.points[i];
  Json json;
  json["settings"] = knobs_json(report.plan.points.settings[i], report.plan.points.varied);
  json["runs"] = point.runs;
  json["step_ms"] = estimate_ms_within(point.step_ns, point.half_width_ns);
  json["exposed_ms"] = optional_ms(point.exposed_ns);
  json["tokens_per_s"] = optional_number(point.tokens_per_s);
  json["peak_memory_bytes"] = optional_bytes(point.peak_memory_bytes);
  json["peak_tensor_bytes"] = optional_bytes(point.peak_tensor_bytes);
  json["on_front"] = point.is_on_front;
  const auto& predicted = report.predictions.points.at(i);
  json["predicted_ms"] =
      predicted.step_ns ? estimate_ms(predicted.step_ns, predicted.interval) : Json(nullptr);
  json["not_predicted"] = text_or_null(predicted.reason);
  json["stopped_early"] = point.standing == Standing::kStoppedEarly;
  json["verdict"] = std::string(sweep::to_string(point.standing));
  json["reason"] = text_or_null(point.reason);
  json["failed_once"] = text_or_null(point.failed_once);
  json["slower_percent"] = slower_json(point);
  return json;
}

// What all points have in common.
Json common_json(const sweep::SweepPoints& points) {
  Json settings = settings_json(points.settings.front());
  for (const auto* knob : points.varied) settings.erase(std::string(knob->name));
  return settings;
}

std::string time_cell(const std::optional<double>& ns, std::string_view unit) {
  return ns ? ui::present::format_duration_in(*ns, unit).text() : "";
}

std::string spread_cell(const PointVerdict& point, std::string_view unit) {
  if (!(point.half_width_ns > point.step_ns)) return time_cell(point.half_width_ns, unit);
  return trace::timeline::spread_text(*point.step_ns, *point.half_width_ns, [unit](double ns) {
    return ui::present::format_duration_in(ns, unit).text();
  });
}

std::string runs_text_of(const SweepReport& report, const PointVerdict& point) {
  const auto count = std::to_string(point.runs.size());
  const auto wanted = std::to_string(report.plan.repeats);
  return count == wanted ? count : count + " of " + wanted;
}

bool is_predicted(const SweepReport& report) { return !report.predictions.from.empty(); }

std::vector<TextTable::Column> point_columns(const SweepReport& report, bool by_tokens) {
  std::vector<TextTable::Column> columns;
  for (const auto* knob : report.plan.points.varied) {
    const auto type = trace::job::type_name(*knob);
    const bool is_number = type == "number" || type == "integer";
    columns.push_back(
        {std::string(knob->name), is_number ? Align::kRight : Align::kLeft, kLongestValue});
  }
  columns.push_back({"step", Align::kRight});
  columns.push_back({"±", Align::kRight});
  if (is_predicted(report)) columns.push_back({"predicted", Align::kRight});
  columns.push_back({"exposed", Align::kRight});
  if (by_tokens) columns.push_back({"tokens/s", Align::kRight});
  columns.push_back({"peak of tensors", Align::kRight});
  columns.push_back({"runs", Align::kRight});
  columns.push_back({by_tokens ? "time per token" : "beside the best"});
  return columns;
}

std::vector<std::string> point_cells(const SweepReport& report, std::size_t i,
                                     std::string_view unit, bool by_tokens) {
  const PointVerdict& point = report.verdict.points[i];
  std::vector<std::string> cells;
  // Where strategies vary, what a point's own does not obey says nothing of it.
  const auto& settings = report.plan.points.settings[i];
  const auto& varied = report.plan.points.varied;
  const bool strategies_vary =
      std::ranges::find(varied, trace::job::find_knob("sharding_strategy")) != varied.end();
  for (const auto* knob : varied) {
    const bool is_told = !strategies_vary || trace::job::applies(*knob, settings.sharding_strategy);
    cells.push_back(is_told ? trace::job::value_text(settings, *knob) : "");
  }
  cells.push_back(time_cell(point.step_ns, unit));
  cells.push_back(spread_cell(point, unit));
  if (is_predicted(report)) {
    cells.push_back(time_cell(report.predictions.points.at(i).step_ns, unit));
  }
  cells.push_back(time_cell(point.exposed_ns, unit));
  if (by_tokens) {
    cells.push_back(point.tokens_per_s ? ui::present::format_rate(*point.tokens_per_s, "/s").text()
                                       : "");
  }
  cells.push_back(point.peak_tensor_bytes ? size_text(*point.peak_tensor_bytes) : "");
  cells.push_back(runs_text_of(report, point));
  cells.push_back(ui::present::standing_text(point.standing, point.slower_by));
  return cells;
}

TextTable points_table(const SweepReport& report) {
  const bool by_tokens = report.verdict.goal == Goal::kTokenRate;
  TextTable table(point_columns(report, by_tokens));
  double longest = 0;
  for (const auto& point : report.verdict.points) {
    longest = std::max(longest, point.step_ns.value_or(0));
  }
  const auto unit = ui::present::duration_unit(longest);
  for (std::size_t i = 0; i < report.verdict.points.size(); ++i) {
    table.add_row(point_cells(report, i, unit, by_tokens));
  }
  return table;
}

// One line for each point that has something to say beside its figures.
std::string remarks(const SweepReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.verdict.points.size(); ++i) {
    const std::string name = sweep::point_text(report.plan.points, i);
    for (const auto& remark : ui::present::point_remarks(name, report.verdict.points[i])) {
      text += remark + "\n";
    }
  }
  return text;
}

// Which run predictions are from, and each reason why there are none, once.
std::string prediction_remarks(const SweepReport& report) {
  std::string text;
  if (is_predicted(report)) {
    text = "Predicted from the run \"" + report.predictions.from + "\" alone\n";
  }
  const auto& points = report.predictions.points;
  std::set<std::string> reasons;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string& reason = points[i].reason;
    if (reason.empty() || !reasons.insert(reason).second) continue;
    const auto of_it = std::ranges::count(points, reason, &ui::state::PointPrediction::reason);
    text += "Not predicted: " + sweep::point_text(report.plan.points, i) +
            (of_it > 1 ? " and " + std::to_string(of_it - 1) + " more" : "") + ": " + reason + "\n";
  }
  return text;
}

}  // namespace

Json sweep_json(const SweepReport& report) {
  const auto& plan = report.plan;
  const auto& verdict = report.verdict;
  Json points = Json::array(), varied = Json::array();
  for (std::size_t i = 0; i < verdict.points.size(); ++i) points.push_back(point_json(report, i));
  for (const auto* knob : plan.points.varied) varied.push_back(std::string(knob->name));
  Json best = nullptr;
  if (verdict.best) {
    best = {{"settings", knobs_json(plan.points.settings[*verdict.best], plan.points.varied)},
            {"why", verdict.why}};
  }
  const auto& spread = verdict.between_runs;
  const bool is_known = spread.degrees_of_freedom >= 1;
  return {{"schema", 1},
          {"name", plan.name},
          {"status", report.status},
          {"reason", text_or_null(report.reason)},
          {"varied", std::move(varied)},
          {"repeat", plan.repeats},
          {"seed", plan.seed},
          {"judged_by", verdict.goal == Goal::kStepTime ? "step_ms" : "tokens_per_s"},
          {"settings", common_json(plan.points)},
          {"points", std::move(points)},
          {"predicted_from", text_or_null(report.predictions.from)},
          {"best", std::move(best)},
          {"noise",
           {{"between_runs", is_known ? number_or_null(spread.deviation) : Json(nullptr)},
            {"degrees_of_freedom", spread.degrees_of_freedom}}},
          {"notes", report.banners}};
}

std::string sweep_text(const SweepReport& report) {
  const auto& plan = report.plan;
  const auto& settings = plan.points.settings;
  std::string text =
      plan.name + " · " + report.status + " · " + trace::base::counted(settings.size(), "point") +
      ", " + (plan.repeats == 1 ? "once" : std::to_string(plan.repeats) + " times") + " each\n";
  for (const auto& banner : report.banners) text += banner + "\n";
  text += "\n" + points_table(report).text() + "\n" + prediction_remarks(report) + remarks(report);
  text += report.verdict.best ? report.verdict.why + "\n" : "No point has a result\n";
  return text;
}

}  // namespace shardlens::app::report
