#include <algorithm>

#include "app/report/comparison_report.h"
#include "app/report/report_json.h"
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
          {"steps_measured", run.summary.steps_measured},
          {"first_nonfinite_step", first_nonfinite_json(run.steps)}};
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
  return array_of(comparison.other_job,
                  [](auto reason) { return trace::analysis::other_job_text({reason}); });
}

// What is known of both runs, in one unit: a figure, a part of the step, a detail. The verdict is
// null where nothing judges it.
Json difference_json(const auto& of, double difference, FigureUnit unit) {
  const auto converted = [&](double value) { return number_or_null(in_json_unit(value, unit)); };
  return {{"name", of.name},
          {"unit", figure_unit_json(unit)},
          {"first", converted(of.first)},
          {"second", converted(of.second)},
          {"difference", converted(difference)},
          {"low", of.half_width ? converted(difference - *of.half_width) : Json()},
          {"high", of.half_width ? converted(difference + *of.half_width) : Json()},
          {"beyond_noise", or_null(of.beyond_noise)}};
}

Json figure_json(const trace::analysis::FigureDifference& figure) {
  Json json = difference_json(figure, figure.difference, figure.unit);
  json["relative"] = optional_number(figure.relative);
  return json;
}

Json shares_json(const std::vector<trace::analysis::ShareDifference>& shares) {
  if (shares.empty()) return nullptr;
  return array_of(shares, [](const auto& share) {
    Json json = {{"what", share.name}, {"difference_ms", ms(share.difference())}};
    json.update(difference_json(share, share.difference(), FigureUnit::kNanoseconds));
    return json;
  });
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

Json detail_json(const trace::analysis::DetailDifference& detail) {
  Json json = {{"kind", detail_kind_name(detail.kind)}};
  json.update(difference_json(detail, detail.difference(), detail.unit));
  json["only_in_one"] = detail.is_only_in_one;
  return json;
}

Json settings_difference_json(const Comparison& comparison) {
  if (!comparison.knows_settings) return nullptr;
  return array_of(comparison.settings, [](const auto& setting) -> Json {
    return {{"name", setting.name}, {"first", setting.first}, {"second", setting.second}};
  });
}

// What a pair of runs has: the second against the first.
Json pair_json(const RunFigures& first, const RunFigures& second, const RunDifference& difference) {
  const Comparison& comparison = difference.comparison;
  const auto sentence = ui::present::comparison_sentence(comparison, difference.explanation);
  const bool common = comparison.common_step >= 0;
  return {{"first", side_json(first)},
          {"second", side_json(second)},
          {"sentence", sentence.text},
          {"caveat", text_or_null(sentence.caveat)},
          {"settings", settings_difference_json(comparison)},
          {"figures", array_of(comparison.figures, figure_json)},
          {"explained_by", shares_json(difference.explanation.parts)},
          {"phases", shares_json(difference.explanation.phases)},
          {"details", array_of(difference.details, detail_json)},
          {"buckets_not_compared", difference.other_buckets},
          {"by_throughput", comparison.by_throughput},
          {"relative", optional_number(comparison.relative)},
          {"beyond_noise", or_null(comparison.beyond_noise)},
          {"different_jobs", other_job_json(comparison)},
          {"same_work", comparison.same_work},
          {"spread_within_run_only", !comparison.noise.between_runs.has_value()},
          {"noise", noise_json(comparison)},
          {"common_step", known(common, comparison.common_step)},
          {"first_loss", optional_number(comparison.first_loss)},
          {"second_loss", optional_number(comparison.second_loss)},
          {"scaling", scaling_json(comparison.scaling)}};
}

const Json* find_named(const Json& list, const Json& name) {
  const auto found =
      std::ranges::find_if(list, [&](const Json& each) { return each["name"] == name; });
  return found == list.end() ? nullptr : &*found;
}

// Gives each figure the values of all runs, null where a pair does not tell it.
void add_values(Json& figures, const Json& pairs) {
  for (Json& figure : figures) {
    Json values = Json::array({figure["first"]});
    for (const Json& pair : pairs) {
      const Json* found = find_named(pair["figures"], figure["name"]);
      values.push_back(found == nullptr ? Json(nullptr) : (*found)["second"]);
    }
    figure["values"] = std::move(values);
  }
}

// A setting's value in the second run of a pair: that of the first where the pair does not differ
// in it.
Json second_value(const Json& pair, const Json& setting) {
  if (pair["settings"].is_null()) return nullptr;
  const Json* found = find_named(pair["settings"], setting["name"]);
  return found == nullptr ? setting["first"] : (*found)["second"];
}

// In which any run differs from the first, with what each has: null of a run that does not tell
// it. Null where none but the first tells any, or that one does not.
Json settings_of_all(const Json& pairs) {
  const auto is_unknown = [](const Json& pair) { return pair["settings"].is_null(); };
  if (std::ranges::all_of(pairs, is_unknown)) return nullptr;
  Json all = Json::array();
  for (const Json& pair : pairs) {
    for (const Json& setting : pair["settings"]) {
      if (find_named(all, setting["name"]) != nullptr) continue;
      Json values = Json::array({setting["first"]});
      for (const Json& other : pairs) values.push_back(second_value(other, setting));
      all.push_back({{"name", setting["name"]},
                     {"first", values[0]},
                     {"second", values[1]},
                     {"values", std::move(values)}});
    }
  }
  return all;
}

}  // namespace

// The first pair stands at the top, as it did when two runs were all that could be compared.
Json comparison_json(const ComparedRuns& compared) {
  Json pairs = Json::array();
  for (std::size_t i = 0; i < compared.differences.size(); ++i) {
    pairs.push_back(pair_json(compared.runs[0], compared.runs[i + 1], compared.differences[i]));
  }
  Json json = {{"schema", 1}, {"runs", array_of(compared.runs, side_json)}};
  if (!pairs.empty()) {
    json.update(pairs[0]);
    json["settings"] = settings_of_all(pairs);
    add_values(json["figures"], pairs);
  }
  json["comparisons"] = std::move(pairs);
  return json;
}

}  // namespace shardlens::app::report
