#include "ui/present/compare/comparison_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trace/base/text.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using trace::analysis::Comparison;
using trace::analysis::ShareDifference;
using trace::analysis::StepExplanation;
using trace::analysis::StepShare;

// Of the whole difference: from which share on a part is called all of it, most of it, a part that
// others work against.
constexpr double kAll = 0.95, kMost = 0.5, kMoreThanAll = 1.05;
constexpr double kNearlyAllOfPart = 0.8;

// "−13.4 ± 1.1 ms"
std::string signed_amount(double ns, const std::optional<double>& half_width) {
  std::string text = trace::base::format_signed_duration(ns, half_width);
  if (!half_width) return text;
  const std::string unit = " " + std::string(duration_unit(std::max(std::abs(ns), *half_width)));
  if (const auto at = text.find(unit + " "); at != std::string::npos) text.erase(at, unit.size());
  return text + unit;
}

// "13.4 ± 1.1 ms"
std::string amount_text(double ns, const std::optional<double>& half_width) {
  const std::string text = signed_amount(std::abs(ns), half_width);
  return text.starts_with('+') ? text.substr(1) : text;
}

std::size_t decimals_of(const std::string& number) {
  const auto point = number.find('.');
  return point == std::string::npos ? 0 : number.size() - point - 1;
}

// "9.2 of 13.4 ms": to the same place.
std::string share_of_total(double ns, double total_ns) {
  const std::string unit(duration_unit(std::abs(total_ns)));
  const Quantity total = format_duration_in(std::abs(total_ns), unit);
  std::string share = format_duration_in(std::abs(ns), unit).value;
  while (decimals_of(share) > decimals_of(total.value)) share = one_digit_fewer(share);
  return share + " of " + total.text();
}

// A part as a sentence calls it; waiting and transfer are one.
struct Cause {
  std::string name;
  double difference = 0;
  bool is_within_noise = false;  // by its own verdict
};

std::string cause_name(StepShare share) {
  switch (share) {
    case StepShare::kCompute:
      return "computation";
    case StepShare::kExposed:
    case StepShare::kWaiting:
    case StepShare::kTransfer:
      return "exposed communication";
    case StepShare::kExposedCopy:
      return "exposed copies";
    case StepShare::kIdle:
      return "idle time";
    case StepShare::kUndetailed:
      return "steps recorded without detail";
    case StepShare::kPhase:
      break;
  }
  return "";
}

std::optional<bool> verdict_of(const Comparison& comparison, std::string_view figure) {
  const auto found =
      std::ranges::find(comparison.figures, figure, &trace::analysis::FigureDifference::name);
  return found == comparison.figures.end() ? std::nullopt : found->beyond_noise;
}

std::vector<Cause> causes_of(const Comparison& comparison, const StepExplanation& explanation) {
  std::vector<Cause> causes;
  const bool by_phase = explanation.parts.empty();
  for (const ShareDifference& part : by_phase ? explanation.phases : explanation.parts) {
    const std::string name = by_phase ? std::string(part.name) : cause_name(part.share);
    auto cause = std::ranges::find(causes, name, &Cause::name);
    if (cause == causes.end()) cause = causes.insert(cause, Cause{name, 0, false});
    cause->difference += part.difference();
    const bool is_split = part.share == StepShare::kWaiting || part.share == StepShare::kTransfer;
    const auto verdict = is_split ? verdict_of(comparison, "exposed") : part.beyond_noise;
    cause->is_within_noise = verdict == false;
  }
  std::ranges::stable_sort(causes, std::ranges::greater{},
                           [](const Cause& cause) { return std::abs(cause.difference); });
  return causes;
}

// " (waiting for the last rank)" where that is nearly all of it.
std::string kind_of_exposed(const StepExplanation& explanation, const Cause& cause) {
  if (cause.name != cause_name(StepShare::kExposed)) return "";
  for (const ShareDifference& part : explanation.parts) {
    const double share = part.difference() / cause.difference;
    if (share < kNearlyAllOfPart) continue;
    if (part.share == StepShare::kWaiting) return " (waiting for the last rank)";
    if (part.share == StepShare::kTransfer) return " (transfer)";
  }
  return "";
}

std::string changed_text(const Cause& cause) {
  return cause.name + " takes " + format_duration(std::abs(cause.difference)).text() +
         (cause.difference < 0 ? " less" : " more");
}

// In the same ones, where there are some already.
std::string in_parentheses(std::string name, const std::string& words) {
  if (!name.ends_with(')')) return name + " (" + words + ")";
  name.pop_back();
  return name + ", " + words + ")";
}

// Where no part is beyond its own noise, one may still be nearly all that differs.
std::string likely_cause_text(const Cause& cause, const std::string& name, double total) {
  constexpr std::string_view kButItself = ", which by itself is within noise";
  const double share = cause.difference / total;
  if (share < kMost) return ", no part of it beyond its own noise";
  std::string text = ", most probably ";
  if (share > kMoreThanAll) {
    text += "because " + changed_text(cause);
  } else if (share >= kAll) {
    text += "all of it " + name;
  } else {
    text += in_parentheses(name, share_of_total(cause.difference, total));
  }
  return text.append(kButItself);
}

// ", all of it exposed communication"; "" where nothing is known.
std::string cause_text(const Comparison& comparison, const StepExplanation& explanation) {
  const double total = explanation.difference_ns();
  const std::vector<Cause> causes = causes_of(comparison, explanation);
  if (causes.empty() || total == 0) return "";
  const Cause& main = causes.front();
  const double share = main.difference / total;
  const std::string name = main.name + kind_of_exposed(explanation, main);
  if (main.is_within_noise) return likely_cause_text(main, name, total);
  if (share >= kAll && share <= kMoreThanAll) return ", all of it " + name;
  if (share > 0 && share < kAll && share >= kMost) {
    return ", most of it " + in_parentheses(name, share_of_total(main.difference, total));
  }
  std::string text = ": " + changed_text(main);
  if (causes.size() > 1) text += ", " + changed_text(causes[1]);
  return text;
}

std::string direction(double difference) { return difference < 0 ? "faster by " : "slower by "; }

const trace::analysis::FigureDifference* step_figure(const Comparison& comparison) {
  const auto found = std::ranges::find(comparison.figures, std::string_view("step"),
                                       &trace::analysis::FigureDifference::name);
  return found == comparison.figures.end() ? nullptr : &*found;
}

// Where nobody knows, also of a large difference.
std::string by_chance(const Comparison& comparison) {
  if (is_only_untold(comparison.other_job))
    return " (if it is the same job, and perhaps by chance)";
  return comparison.beyond_noise ? "" : " (perhaps by chance)";
}

std::string by_throughput(const Comparison& comparison) {
  const std::string amount =
      format_signed_percent(*comparison.relative) + " tokens per second" + by_chance(comparison);
  if (comparison.beyond_noise == false) return "no difference beyond noise (" + amount + ")";
  return amount + "; its steps do other work, so that their times are not compared";
}

// Why the verdict is less than it could be.
std::string noise_caveat(const Comparison& comparison) {
  if (is_only_untold(comparison.other_job)) {
    return "What was run is not known, so neither is whether that is more than noise";
  }
  if (!comparison.beyond_noise) {
    return comparison.noise_note.empty()
               ? "Whether that is more than noise is not known"
               : "Whether that is more than noise is not known. " + comparison.noise_note;
  }
  if (comparison.noise.between_runs) return "";
  return "± holds how steps scatter within the runs; how far two starts of the same settings lie "
         "apart is not known, as none of the library's settings ran twice";
}

}  // namespace

std::string_view share_title(const ShareDifference& share) {
  switch (share.share) {
    case StepShare::kWaiting:
      return "waiting for the last rank";
    case StepShare::kTransfer:
      return "exposed transfer";
    case StepShare::kExposed:
      return "exposed communication";
    default:
      return share.name;
  }
}

std::string share_text(const ShareDifference& share) {
  return trace::base::format_signed_duration(share.difference(), share.half_width);
}

std::string_view verdict_text(const std::optional<bool>& beyond_noise) {
  if (!beyond_noise) return "not known";
  return *beyond_noise ? "beyond noise" : "within noise";
}

std::string detail_verdict_text(const trace::analysis::DetailDifference& detail,
                                const std::string& first, const std::string& second) {
  if (detail.is_only_in_one) return "only in " + (detail.first > 0 ? first : second);
  if (detail.unit == trace::analysis::FigureUnit::kBytes && detail.beyond_noise) {
    return *detail.beyond_noise ? "different" : "equal";
  }
  return std::string(verdict_text(detail.beyond_noise));
}

std::string why_not_comparable(const Comparison& comparison) {
  if (!comparison.other_job.empty() && !is_only_untold(comparison.other_job)) {
    return trace::analysis::other_job_text(comparison.other_job);
  }
  if (comparison.by_throughput) {
    return comparison.relative
               ? ""
               : "its steps do other work, and tokens per second are not known of both runs";
  }
  return step_figure(comparison) == nullptr ? "no step was measured of one of them" : "";
}

ComparisonSentence comparison_sentence(const Comparison& comparison,
                                       const StepExplanation& explanation) {
  if (const auto why = why_not_comparable(comparison); !why.empty()) {
    return {"not comparable: " + why, ""};
  }
  ComparisonSentence sentence;
  sentence.caveat = noise_caveat(comparison);
  if (comparison.by_throughput) {
    sentence.text = by_throughput(comparison);
    return sentence;
  }
  const auto* step = step_figure(comparison);
  const double difference = step->difference;
  if (comparison.beyond_noise == false) {
    sentence.text =
        "no difference beyond noise (" + signed_amount(difference, step->half_width) + ")";
    return sentence;
  }
  if (difference == 0) {
    sentence.text = "exactly as fast";
    return sentence;
  }
  sentence.text = direction(difference) + amount_text(difference, step->half_width) +
                  by_chance(comparison) + cause_text(comparison, explanation);
  return sentence;
}

std::string settings_text(const Comparison& comparison) {
  if (!comparison.knows_settings) return "settings are not known";
  if (comparison.settings.empty()) return "same settings";
  return trace::base::joined(comparison.settings, ", ", [](const auto& setting) {
    return setting.name + " " + setting.first + " → " + setting.second;
  });
}

}  // namespace shardlens::ui::present
