#include <algorithm>
#include <cmath>

#include "app/report/comparison_report.h"
#include "app/report/report_text.h"
#include "app/report/text_table.h"
#include "app/session/runs/run_banners.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/printable.h"
#include "trace/model/acting_settings.h"
#include "trace/tuning/predictable.h"
#include "ui/present/compare/comparison_text.h"
#include "ui/present/format.h"
#include "ui/present/job_text.h"
#include "ui/present/tables/ledger_cells.h"

namespace shardlens::app::report {
namespace {

using trace::analysis::Comparison;
using trace::analysis::FigureUnit;
using trace::analysis::RunDifference;
using trace::analysis::RunFigures;

constexpr std::size_t kLongestName = 28;

std::string figure_text(double value, FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kNanoseconds:
      return time_text(value);
    case FigureUnit::kBytes:
      return size_text(value);
    case FigureUnit::kPerSecond:
      return ui::present::format_rate(value, "/s").text();
    case FigureUnit::kFraction:
      return ui::present::format_percent(value).text();
    case FigureUnit::kNone:
      break;
  }
  return loss_text(value);
}

std::string verdict(const trace::analysis::FigureDifference& figure) {
  if (!figure.beyond_noise) return "";
  // Bytes of tensors do not scatter.
  if (figure.unit == FigureUnit::kBytes) return *figure.beyond_noise ? "different" : "equal";
  return std::string(ui::present::verdict_text(figure.beyond_noise));
}

// What stands before everything else: why there is no verdict.
std::string comparability_text(const Comparison& comparison) {
  if (!comparison.other_job.empty()) {
    if (trace::analysis::is_only_untold(comparison.other_job)) {
      return "What was run is not known: the differences say something if it is the same job, and "
             "none is judged\n\n";
    }
    return "Different jobs (" + trace::analysis::other_job_text(comparison.other_job) +
           "): the figures are listed, but nothing can be concluded from their differences\n\n";
  }
  if (comparison.same_work) return "";
  return "Different work per step: tokens per second are compared, times of steps and their parts "
         "only listed\n\n";
}

// As short as leaves columns beside it.
std::string short_name(const RunFigures& run) { return cut_to_width(run.info.name, kLongestName); }

// How many of the settings that differ may each change a step's time.
std::size_t acting_differences(const RunFigures& first, const RunFigures& second,
                               const Comparison& comparison) {
  // Strong scaling is ranks and batch changed together, on purpose.
  if (comparison.scaling) return 0;
  const auto a = trace::model::acting_settings(first.info, {});
  const auto b = trace::model::acting_settings(second.info, {});
  return static_cast<std::size_t>(std::ranges::count_if(comparison.settings, [&](const auto& each) {
    const trace::job::Knob& knob = *trace::job::find_knob(each.name);
    return trace::job::applies(knob, a.sharding_strategy) &&
           trace::job::applies(knob, b.sharding_strategy) &&
           !trace::tuning::is_without_effect(knob) && value_text(a, knob) != value_text(b, knob);
  }));
}

// The value in a run that is compared with one that has `base`.
std::string setting_cell(const Comparison& comparison, const std::string& name,
                         const std::string& base) {
  if (!comparison.knows_settings) return std::string(ui::present::kUnknown);
  const auto found =
      std::ranges::find(comparison.settings, name, &trace::analysis::SettingDifference::name);
  return found == comparison.settings.end() ? base : found->second;
}

// What the runs did otherwise: a column for each run, a row for each setting.
std::string settings_text(const ComparedRuns& compared) {
  std::vector<trace::analysis::SettingDifference> rows;  // name and what the base has
  std::size_t known = 0, most = 0;
  for (std::size_t i = 0; i < compared.differences.size(); ++i) {
    const Comparison& comparison = compared.differences[i].comparison;
    if (comparison.knows_settings) ++known;
    most = std::max(most, acting_differences(compared.runs[0], compared.runs[i + 1], comparison));
    for (const auto& setting : comparison.settings) {
      const bool is_new =
          std::ranges::none_of(rows, [&](const auto& row) { return row.name == setting.name; });
      if (is_new) rows.push_back(setting);
    }
  }
  if (known == 0) return "Settings: not known\n";
  if (rows.empty()) {
    return std::string("Settings: the same") +
           (known == compared.differences.size() ? "" : " where they are known") + "\n";
  }
  std::vector<TextTable::Column> columns{{"setting"}};
  for (const auto& run : compared.runs) columns.push_back({short_name(run)});
  TextTable table(std::move(columns));
  for (const auto& row : rows) {
    std::vector<std::string> cells{row.name, row.first};
    for (const RunDifference& difference : compared.differences) {
      cells.push_back(setting_cell(difference.comparison, row.name, row.first));
    }
    table.add_row(std::move(cells));
  }
  std::string text = table.text("");
  if (most > 1) text += "Several settings differ: their effects cannot be told apart\n";
  return text;
}

std::string signed_text(double difference, FigureUnit unit) {
  // Of two shares, which the relative difference beside it is in, too.
  if (unit == FigureUnit::kFraction) {
    return trace::base::signed_text(
        difference, ui::present::format_number(std::abs(100 * difference)) + " points");
  }
  return trace::base::signed_text(difference, figure_text(std::abs(difference), unit));
}

std::vector<TextTable::Column> pair_columns(std::string title, const RunFigures& first,
                                            const RunFigures& second) {
  return {{std::move(title)},
          {short_name(first), Align::kRight},
          {short_name(second), Align::kRight},
          {"difference", Align::kRight},
          {"", Align::kRight},
          {""}};
}

std::string figures_text(const RunFigures& first, const RunFigures& second,
                         const Comparison& comparison) {
  if (comparison.figures.empty()) return "No figure is known of both runs\n";
  TextTable table(pair_columns("", first, second));
  for (const auto& figure : comparison.figures) {
    table.add_row({std::string(figure.name), figure_text(figure.first, figure.unit),
                   figure_text(figure.second, figure.unit),
                   signed_text(figure.difference, figure.unit),
                   figure.relative ? ui::present::format_signed_percent(*figure.relative) : "",
                   verdict(figure)});
  }
  return table.text("");
}

std::string shares_text(const std::string& title, const RunFigures& first, const RunFigures& second,
                        const trace::analysis::StepExplanation& explanation,
                        const std::vector<trace::analysis::ShareDifference>& shares) {
  if (shares.empty()) return "";
  TextTable table(pair_columns(title, first, second));
  for (const auto& share : shares) {
    table.add_row({std::string(ui::present::share_title(share)), time_text(share.first),
                   time_text(share.second), ui::present::share_text(share), "",
                   std::string(ui::present::verdict_text(share.beyond_noise))});
  }
  table.add_row({"= step", time_text(explanation.first_ns), time_text(explanation.second_ns),
                 signed_text(explanation.difference_ns(), FigureUnit::kNanoseconds), "", ""});
  return "\n" + table.text("");
}

std::string details_text(const RunFigures& first, const RunFigures& second,
                         const RunDifference& difference, trace::analysis::DetailKind kind,
                         const std::string& title) {
  constexpr std::size_t kMostRows = 8;
  TextTable table(pair_columns(title, first, second));
  std::size_t rows = 0, more = 0;
  for (const auto& detail : difference.details) {
    if (detail.kind != kind || detail.difference() == 0) continue;
    if (++rows > kMostRows) {
      ++more;
      continue;
    }
    const bool is_size = detail.unit == FigureUnit::kBytes;
    const std::string changed =
        is_size ? signed_text(detail.difference(), detail.unit)
                : trace::base::format_signed_duration(detail.difference(), detail.half_width);
    table.add_row({detail.name, figure_text(detail.first, detail.unit),
                   figure_text(detail.second, detail.unit), changed, "",
                   ui::present::detail_verdict_text(detail, "the first", "the second")});
  }
  if (rows == 0) return "";
  return "\n" + table.text("") +
         (more > 0 ? "and " + std::to_string(more) + " more: --json has all\n" : "");
}

std::string all_details_text(const RunFigures& first, const RunFigures& second,
                             const RunDifference& difference) {
  using trace::analysis::DetailKind;
  std::string text;
  for (const auto& [kind, title] : {std::pair{DetailKind::kWork, "Kernels, operators, copies"},
                                    std::pair{DetailKind::kCollective, "Collectives"},
                                    std::pair{DetailKind::kTag, "Buckets, units"},
                                    std::pair{DetailKind::kMemory, "Memory at the peak"}}) {
    text += details_text(first, second, difference, kind, title);
  }
  if (difference.other_buckets > 0) {
    text +=
        "\nBuckets of one number are compared where both runs put the same parameters into them: " +
        std::to_string(difference.other_buckets) + " are not\n";
  }
  return text;
}

// "": nobody read it.
std::string loss_at(const RunFigures& run, std::int64_t index, const std::optional<double>& loss) {
  const auto step = std::ranges::find(run.steps, index, &trace::analysis::StepFigures::index);
  if (step != run.steps.end() && has_nonfinite_loss(*step)) return "not finite";
  return loss ? loss_text(*loss) : "";
}

std::string losses_text(const RunFigures& first, const RunFigures& second,
                        const Comparison& comparison) {
  const std::int64_t step = comparison.common_step;
  const std::string a = loss_at(first, step, comparison.first_loss);
  const std::string b = loss_at(second, step, comparison.second_loss);
  if (a.empty() || b.empty()) return "";
  return "\nLoss at step " + std::to_string(step) + ", the last whose loss both read: " + a +
         " and " + b + "\n";
}

std::string pair_text(const RunFigures& first, const RunFigures& second,
                      const RunDifference& difference) {
  const Comparison& comparison = difference.comparison;
  const auto& explanation = difference.explanation;
  std::string text = comparability_text(comparison) + figures_text(first, second, comparison);
  text += shares_text("What explains it", first, second, explanation, explanation.parts);
  text += shares_text("By phase", first, second, explanation, explanation.phases);
  text += all_details_text(first, second, difference);
  if (comparison.scaling) {
    text += "\n" + ui::present::scaling_title(*comparison.scaling) + ", " +
            ui::present::scaling_text(*comparison.scaling) + "\n";
  }
  text += losses_text(first, second, comparison);
  if (comparison.other_job.empty() && !comparison.noise_note.empty()) {
    text += "\n" + comparison.noise_note + "\n";
    if (!comparison.beyond_noise) text += "Whether the runs differ is not known\n";
  }
  return text;
}

}  // namespace

std::string comparison_text(const ComparedRuns& compared) {
  const RunFigures& base = compared.runs[0];
  std::string text = "Against " + base.info.name + ":\n";
  for (std::size_t i = 0; i < compared.differences.size(); ++i) {
    const RunDifference& difference = compared.differences[i];
    const auto sentence =
        ui::present::comparison_sentence(difference.comparison, difference.explanation);
    text += "  " + compared.runs[i + 1].info.name + ": " + sentence.text + "\n";
    if (!sentence.caveat.empty()) text += "    (" + sentence.caveat + ")\n";
  }
  text += "\n";
  for (const auto& run : compared.runs) {
    text += run.info.name + ": " + std::string(trace::model::to_string(run.info.status)) + ", " +
            ui::present::steps_text(run.summary.steps_measured) + " measured";
    const std::string nonfinite = nonfinite_text(run.steps);
    text += (nonfinite.empty() ? "" : "; " + nonfinite) + "\n";
    for (const auto& banner : session::banners_of(run))
      text += "! " + trace::base::printable_line(banner) + "\n";
  }
  text += "\n" + settings_text(compared);
  for (std::size_t i = 0; i < compared.differences.size(); ++i) {
    const RunFigures& run = compared.runs[i + 1];
    text += "\n";
    if (compared.differences.size() > 1) {
      text += "---- " + run.info.name + " against " + base.info.name + " ----\n\n";
    }
    text += pair_text(base, run, compared.differences[i]);
  }
  return text;
}

}  // namespace shardlens::app::report
