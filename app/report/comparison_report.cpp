#include "app/report/comparison_report.h"

#include <cmath>
#include <cstdio>

#include "app/report/text_table.h"
#include "app/session/runs/run_banners.h"
#include "ui/present/format.h"
#include "ui/present/tables/ledger_text.h"

namespace shardlens::app::report {
namespace {

using trace::analysis::Comparison;
using trace::analysis::FigureUnit;

constexpr std::size_t kLongestName = 28;

// Milliseconds, as everywhere in JSON.
double in_json_unit(double value, FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kNanoseconds:
      return value / 1e6;
    case FigureUnit::kFraction:
      return value * 100;
    default:
      return value;
  }
}

Json figure_unit_json(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kNanoseconds:
      return "ms";
    case FigureUnit::kBytes:
      return "bytes";
    case FigureUnit::kPerSecond:
      return "1/s";
    case FigureUnit::kFraction:
      return "%";
    case FigureUnit::kNone:
      break;
  }
  return nullptr;
}

std::string figure_text(double value, FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kNanoseconds:
      return ui::present::format_duration(value).text();
    case FigureUnit::kBytes:
      return ui::present::format_bytes(value).text();
    case FigureUnit::kPerSecond:
      return ui::present::format_rate(value, "/s").text();
    case FigureUnit::kFraction:
      return ui::present::format_percent(value).text();
    case FigureUnit::kNone:
      break;
  }
  return ui::present::format_number(value);
}

std::string loss_text(double loss) {
  if (!std::isfinite(loss)) return "not finite";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", loss);
  return text;
}

Json optional_json(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json(nullptr);
}

Json side_json(const trace::analysis::RunFigures& run) {
  return {{"name", run.info.name},
          {"folder", run.info.folder},
          {"status", trace::model::to_string(run.info.status)},
          {"steps_measured", run.summary.steps_measured}};
}

Json scaling_json(const std::optional<trace::analysis::Scaling>& scaling) {
  if (!scaling) return nullptr;
  return {{"kind", trace::analysis::to_string(scaling->kind)},
          {"from_ranks", scaling->from_ranks},
          {"to_ranks", scaling->to_ranks},
          {"speedup", number_or_null(scaling->speedup)},
          {"efficiency", number_or_null(scaling->efficiency)},
          {"on_same_cores", scaling->on_same_cores}};
}

std::string verdict(const trace::analysis::FigureDifference& figure) {
  if (!figure.beyond_noise) return "";
  // Bytes of tensors do not scatter.
  if (figure.unit == FigureUnit::kBytes) return *figure.beyond_noise ? "different" : "the same";
  return *figure.beyond_noise ? "beyond the spread" : "within the spread";
}

// What stands before everything else: why there is no verdict.
std::string comparability_text(const Comparison& comparison) {
  if (!comparison.other_job.empty()) {
    const bool is_sure = comparison.other_job != std::vector{trace::analysis::OtherJob::kUntold};
    return (is_sure ? "Different jobs (" : "Perhaps different jobs (") +
           trace::analysis::other_job_text(comparison.other_job) +
           "): the figures are listed, but nothing can be concluded from their differences\n\n";
  }
  if (comparison.same_work) return "";
  return "Different work per step: tokens per second are compared, times of steps and their parts "
         "only listed\n\n";
}

Json noise_json(const Comparison& comparison) {
  const trace::analysis::NoiseBasis& noise = comparison.noise;
  return {{"within_run", optional_json(noise.within_run)},
          {"between_runs", optional_json(noise.between_runs)},
          {"degrees_of_freedom", noise.degrees_of_freedom},
          {"runs", noise.runs},
          {"drifts", noise.drifts},
          {"note", comparison.noise_note}};
}

Json other_job_json(const Comparison& comparison) {
  Json reasons = Json::array();
  for (const auto reason : comparison.other_job)
    reasons.push_back(trace::analysis::other_job_text({reason}));
  return reasons;
}

std::string settings_text(const Comparison& comparison, const std::string& first,
                          const std::string& second) {
  if (!comparison.knows_settings) return "Settings: not known\n";
  if (comparison.settings.empty()) return "Settings: the same\n";
  TextTable table({{"setting"}, {first}, {second}});
  for (const auto& setting : comparison.settings) {
    table.add_row({setting.name, setting.first, setting.second});
  }
  std::string text = table.text("");
  // Strong scaling is ranks and batch changed together, on purpose.
  if (comparison.settings.size() > 1 && !comparison.scaling) {
    text += "Several settings differ: their effects cannot be told apart\n";
  }
  return text;
}

}  // namespace

Json comparison_json(const trace::analysis::RunFigures& first,
                     const trace::analysis::RunFigures& second, const Comparison& comparison) {
  Json settings = Json::array();
  for (const auto& setting : comparison.settings) {
    settings.push_back(
        {{"name", setting.name}, {"first", setting.first}, {"second", setting.second}});
  }
  Json figures = Json::array();
  for (const auto& figure : comparison.figures) {
    const auto converted = [&](double value) {
      return number_or_null(in_json_unit(value, figure.unit));
    };
    figures.push_back(
        {{"name", figure.name},
         {"unit", figure_unit_json(figure.unit)},
         {"first", converted(figure.first)},
         {"second", converted(figure.second)},
         {"difference", converted(figure.difference)},
         {"low", figure.half_width ? converted(figure.difference - *figure.half_width) : Json()},
         {"high", figure.half_width ? converted(figure.difference + *figure.half_width) : Json()},
         {"relative", optional_json(figure.relative)},
         {"beyond_noise", figure.beyond_noise ? Json(*figure.beyond_noise) : Json(nullptr)}});
  }
  const bool common = comparison.common_step >= 0;
  return {
      {"schema", 1},
      {"first", side_json(first)},
      {"second", side_json(second)},
      {"settings", comparison.knows_settings ? std::move(settings) : Json(nullptr)},
      {"figures", std::move(figures)},
      {"by_throughput", comparison.by_throughput},
      {"relative", optional_json(comparison.relative)},
      {"beyond_noise", comparison.beyond_noise ? Json(*comparison.beyond_noise) : Json(nullptr)},
      {"different_jobs", other_job_json(comparison)},
      {"same_work", comparison.same_work},
      {"spread_within_run_only", !comparison.noise.between_runs.has_value()},
      {"noise", noise_json(comparison)},
      {"common_step", common ? Json(comparison.common_step) : Json(nullptr)},
      {"first_loss", optional_json(comparison.first_loss)},
      {"second_loss", optional_json(comparison.second_loss)},
      {"scaling", scaling_json(comparison.scaling)}};
}

std::string comparison_text(const trace::analysis::RunFigures& first,
                            const trace::analysis::RunFigures& second,
                            const Comparison& comparison) {
  const std::string a = cut_to_width(first.info.name, kLongestName);
  const std::string b = cut_to_width(second.info.name, kLongestName);
  std::string text = comparability_text(comparison);
  for (const auto* run : {&first, &second}) {
    text += run->info.name + ": " + std::string(trace::model::to_string(run->info.status)) + ", " +
            ui::present::format_integer(run->summary.steps_measured) + " steps measured\n";
    for (const auto& banner : session::banners_of(*run)) text += "! " + banner + "\n";
  }
  text += "\n" + settings_text(comparison, a, b) + "\n";
  if (comparison.figures.empty()) text += "No figure is known of both runs\n";
  TextTable table({{""},
                   {a, Align::kRight},
                   {b, Align::kRight},
                   {"difference", Align::kRight},
                   {"", Align::kRight},
                   {""}});
  for (const auto& figure : comparison.figures) {
    table.add_row({std::string(figure.name), figure_text(figure.first, figure.unit),
                   figure_text(figure.second, figure.unit),
                   (figure.difference > 0   ? "+"
                    : figure.difference < 0 ? "−"
                                            : "") +
                       figure_text(std::abs(figure.difference), figure.unit),
                   figure.relative ? ui::present::format_signed_percent(*figure.relative) : "",
                   verdict(figure)});
  }
  if (!comparison.figures.empty()) text += table.text("");
  if (comparison.scaling) {
    text += "\n" + ui::present::scaling_title(*comparison.scaling) + ", " +
            ui::present::scaling_text(*comparison.scaling) + "\n";
  }
  if (comparison.first_loss && comparison.second_loss) {
    text += "\nLoss at step " + std::to_string(comparison.common_step) +
            ", the last that both executed: " + loss_text(*comparison.first_loss) + " and " +
            loss_text(*comparison.second_loss) + "\n";
  }
  if (comparison.other_job.empty() && !comparison.noise_note.empty()) {
    text += "\n" + comparison.noise_note + "\n";
    if (!comparison.beyond_noise) text += "Whether the runs differ is not known\n";
  }
  return text;
}

}  // namespace shardlens::app::report
