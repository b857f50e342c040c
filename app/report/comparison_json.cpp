#include "app/report/comparison_report.h"
#include "ui/present/compare/comparison_text.h"

namespace shardlens::app::report {
namespace {

using trace::analysis::Comparison;
using trace::analysis::FigureUnit;
using trace::analysis::RunDifference;
using trace::analysis::RunFigures;

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

Json noise_json(const Comparison& comparison) {
  const trace::analysis::NoiseBasis& noise = comparison.noise;
  return {{"within_run", optional_number(noise.within_run)},
          {"between_runs", optional_number(noise.between_runs)},
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

// Null: nothing judges it.
Json verdict_json(const std::optional<bool>& beyond_noise) {
  return beyond_noise ? Json(*beyond_noise) : Json(nullptr);
}

Json figures_json(const Comparison& comparison) {
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
         {"relative", optional_number(figure.relative)},
         {"beyond_noise", verdict_json(figure.beyond_noise)}});
  }
  return figures;
}

Json shares_json(const std::vector<trace::analysis::ShareDifference>& shares) {
  if (shares.empty()) return nullptr;
  Json list = Json::array();
  for (const auto& share : shares) {
    const double difference = share.difference();
    list.push_back({{"name", share.name},
                    {"unit", "ms"},
                    {"first", ms(share.first)},
                    {"second", ms(share.second)},
                    {"difference", ms(difference)},
                    {"low", share.half_width ? ms(difference - *share.half_width) : Json()},
                    {"high", share.half_width ? ms(difference + *share.half_width) : Json()},
                    {"beyond_noise", verdict_json(share.beyond_noise)}});
  }
  return list;
}

std::string_view detail_kind_name(trace::analysis::DetailKind kind) {
  switch (kind) {
    case trace::analysis::DetailKind::kWork:
      return "kernel";
    case trace::analysis::DetailKind::kCollective:
      return "collective";
    case trace::analysis::DetailKind::kTag:
      return "bucket";
    case trace::analysis::DetailKind::kMemory:
      break;
  }
  return "memory";
}

Json details_json(const std::vector<trace::analysis::DetailDifference>& details) {
  Json list = Json::array();
  for (const auto& detail : details) {
    const auto converted = [&](double value) {
      return number_or_null(in_json_unit(value, detail.unit));
    };
    const double difference = detail.difference();
    list.push_back(
        {{"kind", detail_kind_name(detail.kind)},
         {"name", detail.name},
         {"unit", figure_unit_json(detail.unit)},
         {"first", converted(detail.first)},
         {"second", converted(detail.second)},
         {"difference", converted(difference)},
         {"low", detail.half_width ? converted(difference - *detail.half_width) : Json()},
         {"high", detail.half_width ? converted(difference + *detail.half_width) : Json()},
         {"beyond_noise", verdict_json(detail.beyond_noise)},
         {"only_in_one", detail.is_only_in_one}});
  }
  return list;
}

Json settings_difference_json(const Comparison& comparison) {
  if (!comparison.knows_settings) return nullptr;
  Json settings = Json::array();
  for (const auto& setting : comparison.settings) {
    settings.push_back(
        {{"name", setting.name}, {"first", setting.first}, {"second", setting.second}});
  }
  return settings;
}

// Of the second run, against the first.
Json pair_json(const RunFigures& first, const RunFigures& second, const RunDifference& difference) {
  const Comparison& comparison = difference.comparison;
  const auto sentence = ui::present::comparison_sentence(comparison, difference.explanation);
  const bool common = comparison.common_step >= 0;
  return {{"first", side_json(first)},
          {"second", side_json(second)},
          {"sentence", sentence.text},
          {"caveat", text_or_null(sentence.caveat)},
          {"settings", settings_difference_json(comparison)},
          {"figures", figures_json(comparison)},
          {"explained_by", shares_json(difference.explanation.parts)},
          {"phases", shares_json(difference.explanation.phases)},
          {"details", details_json(difference.details)},
          {"by_throughput", comparison.by_throughput},
          {"relative", optional_number(comparison.relative)},
          {"beyond_noise", verdict_json(comparison.beyond_noise)},
          {"different_jobs", other_job_json(comparison)},
          {"same_work", comparison.same_work},
          {"spread_within_run_only", !comparison.noise.between_runs.has_value()},
          {"noise", noise_json(comparison)},
          {"common_step", common ? Json(comparison.common_step) : Json(nullptr)},
          {"first_loss", optional_number(comparison.first_loss)},
          {"second_loss", optional_number(comparison.second_loss)},
          {"scaling", scaling_json(comparison.scaling)}};
}

}  // namespace

// The first pair stands at the top, as it did when two runs were all that could be compared.
Json comparison_json(const ComparedRuns& compared) {
  Json runs = Json::array(), pairs = Json::array();
  for (const auto& run : compared.runs) runs.push_back(side_json(run));
  for (std::size_t i = 0; i < compared.differences.size(); ++i) {
    pairs.push_back(pair_json(compared.runs[0], compared.runs[i + 1], compared.differences[i]));
  }
  Json json = {{"schema", 1}, {"runs", std::move(runs)}};
  if (!pairs.empty()) json.update(pairs[0]);
  json["comparisons"] = std::move(pairs);
  return json;
}

}  // namespace shardlens::app::report
