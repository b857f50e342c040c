#include "ui/present/tune/knob_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"
#include "trace/tuning/predictable.h"
#include "ui/present/format.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::present {

namespace {

using trace::job::Knob;

bool is_told(const Knob& knob, const state::KnobDraft& draft) {
  return std::ranges::find(draft.told, &knob) != draft.told.end();
}

std::string baseline_of(const Knob& knob, const state::KnobDraft& draft) {
  if (is_told(knob, draft)) return "recorded";
  return draft.baseline_name.empty() ? "default" : draft.baseline_name;
}

KnobRow row_of(const Knob& knob, const state::KnobDraft& draft) {
  KnobRow row;
  row.group = knob.group;
  row.knob = &knob;
  row.control = control_of(knob);
  row.value = trace::job::value_text(draft.next, knob);
  const std::string before = trace::job::value_text(draft.baseline, knob);
  row.changed = before != row.value;
  if (row.changed) {
    row.before = baseline_of(knob, draft) + ": " + before;
  }
  if (knob.name == "sharding_strategy") {
    row.note = std::string(trace::job::strategy_traits(draft.next.sharding_strategy).explanation);
  }
  for (const trace::job::SettingProblem& problem : draft.problems) {
    if (problem.knob == knob.name) row.problem = problem.message;
  }
  return row;
}

void add_group(std::vector<KnobRow>& out, trace::job::KnobGroup group,
               const state::KnobDraft& draft, bool unfolded) {
  std::vector<KnobRow> essential, rest;
  int hidden = 0;
  for (const Knob& knob : trace::job::knobs()) {
    if (knob.group != group) continue;
    KnobRow row = row_of(knob, draft);
    // What strategy or device do not obey is out of the way, unless it stops the run.
    if (!trace::job::applies(knob, draft.next) && row.problem.empty()) continue;
    if (knob.essential) {
      essential.push_back(std::move(row));
    } else if (unfolded || row.changed || !row.problem.empty()) {
      rest.push_back(std::move(row));
    } else {
      ++hidden;
    }
  }
  KnobRow heading;
  heading.kind = KnobRow::Kind::kHeading;
  heading.group = group;
  out.push_back(heading);
  for (KnobRow& row : essential) {
    const bool strategies = row.knob->name == "sharding_strategy" && draft.estimates;
    out.push_back(std::move(row));
    if (!strategies) continue;
    KnobRow bars;
    bars.kind = KnobRow::Kind::kStrategies;
    bars.group = group;
    out.push_back(std::move(bars));
  }
  out.insert(out.end(), rest.begin(), rest.end());
  if (hidden > 0 || unfolded) {
    KnobRow more;
    more.kind = KnobRow::Kind::kMore;
    more.group = group;
    more.hidden = hidden;
    out.push_back(more);
  }
}

// Whether the knob, changed alone, may make a step longer or shorter.
bool may_act(const Knob& knob, const state::KnobDraft& draft) {
  trace::model::RunInfo info;
  info.world_size = static_cast<int>(draft.baseline.ranks);
  info.settings = draft.baseline;
  info.settings.device = trace::job::DeviceChoice::kAuto;  // whatever both have
  trace::job::Settings next = info.settings;
  trace::job::copy_value(knob, draft.next, next);
  const auto changes = trace::tuning::changes_to(info, next);
  return changes ? changes->without_effect.empty() : !trace::tuning::is_without_effect(knob);
}

bool is_integer(const Knob& knob) {
  return std::holds_alternative<std::int64_t trace::job::Settings::*>(knob.member);
}

constexpr int kBeside = 2;           // values to either side of the present one
constexpr double kWideRange = 1000;  // from which on logarithmic values lie further apart
constexpr double kFactor = 2, kWideFactor = 4;

std::string joined_values(const std::vector<std::string>& values) {
  const bool has_commas = std::ranges::any_of(values, [](const std::string& value) {
    return value.find_first_of(",=") != std::string::npos;
  });
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : has_commas ? "; " : ", ") + value;
  return text;
}

// Whole, or of one digit.
double rounded(double value) {
  if (value == std::round(value)) return value;
  const double digits = std::pow(10, -std::floor(std::log10(std::abs(value))));
  return std::round(value * digits) / digits;
}

// As the knob writes it; "" where it does not take it.
std::string taken_value(const trace::job::Knob& knob, double value) {
  trace::job::Settings settings;
  const std::string text =
      trace::base::formatted("%.10g", is_integer(knob) ? std::round(value) : value);
  if (!trace::job::set_value(settings, knob.name, text)) return "";
  return trace::job::value_text(settings, knob);
}

std::vector<std::string> numbers_around(const trace::job::Knob& knob, const std::string& present) {
  const SliderRange range = slider_range(knob);
  const bool has_value = present.find_first_not_of("0123456789.e+-") == std::string::npos;
  const double middle = has_value
                            ? std::strtod(present.c_str(), nullptr)
                            : (knob.logarithmic ? std::sqrt(std::max(range.low, 1.0) * range.high)
                                                : (range.low + range.high) / 2);
  const double factor =
      range.low > 0 && range.high / range.low >= kWideRange ? kWideFactor : kFactor;
  std::vector<std::string> values;
  for (int i = -kBeside; i <= kBeside; ++i) {
    const double value = knob.logarithmic ? middle * std::pow(factor, i)
                                          : middle + i * (range.high - range.low) / (2 * kBeside);
    // Not before: an end of the range may have more digits.
    const double taken = std::clamp(is_integer(knob) ? value : rounded(value),
                                    std::min(range.low, middle), std::max(range.high, middle));
    auto text = i == 0 && has_value ? present : taken_value(knob, taken);
    if (!text.empty() && std::ranges::find(values, text) == values.end()) {
      values.push_back(std::move(text));
    }
  }
  return values;
}

std::string with_more(const std::string& line, std::size_t more) {
  return more == 0 ? line : line + " +" + std::to_string(more) + " more";
}

}  // namespace

KnobControl control_of(const Knob& knob) {
  const std::string_view type = trace::job::type_name(knob);
  if (type == "bool") return KnobControl::kCheckbox;
  if (!knob.choices.empty()) return KnobControl::kChoice;
  if (knob.logarithmic && knob.essential && !knob.may_be_auto) return KnobControl::kSliderInput;
  return KnobControl::kInput;
}

std::vector<std::string> closed_choices(const Knob& knob) {
  const KnobControl control = control_of(knob);
  if (control == KnobControl::kCheckbox) return {"false", "true"};
  if (control != KnobControl::kChoice || knob.choices_are_open) return {};
  return {knob.choices.begin(), knob.choices.end()};
}

std::vector<KnobRow> knob_rows(const state::KnobDraft& draft, const UnfoldedGroups& unfolded) {
  std::vector<KnobRow> out;
  for (int i = 0; i < trace::job::kKnobGroupCount; ++i) {
    add_group(out, static_cast<trace::job::KnobGroup>(i), draft,
              unfolded[static_cast<std::size_t>(i)]);
  }
  return out;
}

SliderRange slider_range(const Knob& knob) {
  // What people try; the field takes the whole range.
  if (knob.name == "bucket_cap_mb") return {0.25, 512};
  if (knob.name == "batch_per_rank") return {1, 256};
  if (knob.name == "sequence_length") return {16, 8192};
  if (knob.name == "steps") return {10, 10000};
  return {std::max(knob.minimum, knob.logarithmic ? 1e-3 : knob.minimum), knob.maximum};
}

float slider_position(const Knob& knob, double value) {
  const auto [low, high] = slider_range(knob);
  const double v = std::clamp(value, low, high);
  const double at =
      knob.logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  return static_cast<float>(at);
}

std::string slider_text(const Knob& knob, float position) {
  const auto [low, high] = slider_range(knob);
  const double p = std::clamp(static_cast<double>(position), 0.0, 1.0);
  double value = knob.logarithmic ? low * std::pow(high / low, p) : low + (high - low) * p;
  const double power = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-12))) - 1);
  // Its ends are what they are: 256 and not 260, where no slider stands.
  value = p >= 1 ? high : std::clamp(std::round(value / power) * power, low, high);
  if (is_integer(knob)) return std::to_string(std::llround(value));
  return format_plain(value);
}

std::vector<std::string> slider_values(const Knob& knob, int count,
                                       const std::vector<std::string>& more) {
  const auto number = [](const std::string& value) { return std::strtod(value.c_str(), nullptr); };
  const SliderRange range = slider_range(knob);
  std::vector<std::string> values = more;
  std::erase_if(values, [&](const std::string& value) {
    return number(value) < range.low || number(value) > range.high;
  });
  for (int i = 0; i < count; ++i) {
    values.push_back(slider_text(knob, static_cast<float>(i) / static_cast<float>(count - 1)));
  }
  std::ranges::stable_sort(values, {}, number);
  const auto same = std::ranges::unique(values, {}, number);
  values.erase(same.begin(), same.end());
  return values;
}

std::string change_summary(const state::KnobDraft& draft) {
  std::size_t acting = 0, idle = 0;
  bool are_told = true;
  for (const Knob* knob : trace::job::differing_knobs(draft.baseline, draft.next)) {
    // It has no row, either.
    if (!trace::job::applies(*knob, draft.next)) continue;
    ++(may_act(*knob, draft) ? acting : idle);
    are_told = are_told && is_told(*knob, draft);
  }
  const std::size_t counted = acting > 0 ? acting : idle;
  if (counted == 0) return "";
  const std::string baseline = are_told                      ? "the recorded run"
                               : draft.baseline_name.empty() ? "the defaults"
                                                             : draft.baseline_name;
  std::string text = trace::base::counted(counted, "change") + " against " + baseline;
  if (acting == 0) return text + ", without effect on the step";
  if (acting > 1) text += ": their effects cannot be told apart";
  if (idle == 0) return text;
  return text + "; " + std::to_string(idle) + (idle == 1 ? " more has" : " more have") +
         " no effect on the step";
}

std::string unchanged_text(const state::KnobDraft& draft) {
  const std::string baseline = draft.baseline_name.empty() ? "the defaults" : draft.baseline_name;
  return (draft.told.empty() ? "as " : "as recorded, else as ") + baseline;
}

std::string proposed_values(const trace::job::Knob& knob, const trace::job::Settings& settings) {
  const std::string present = trace::job::value_text(settings, knob);
  const auto type = trace::job::type_name(knob);
  if (type == "bool") return "false, true";
  if (type == "number" || type == "integer") return joined_values(numbers_around(knob, present));
  std::vector<std::string> values(knob.choices.begin(), knob.choices.end());
  if (values.empty()) return "";
  if (std::ranges::find(values, present) == values.end()) values.push_back(present);
  return values.size() < 2 ? "" : joined_values(values);
}

std::vector<std::string> changed_items(const trace::tuning::Prediction& prediction) {
  std::vector<std::string> items;
  for (const auto& change : prediction.changes) {
    items.push_back(change_text(change) + (change.is_implied ? " (follows)" : ""));
  }
  for (const auto* knob : prediction.left_out) {
    items.push_back("without " + std::string(knob->name) + ": effect not known");
  }
  for (const auto* knob : prediction.without_effect) {
    items.push_back(std::string(knob->name) + ": no effect on the step");
  }
  return items;
}

std::vector<std::string> folded_lines(const std::vector<std::string>& items, std::size_t most,
                                      const std::function<bool(const std::string&)>& fits) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t behind = items.size() - i - 1;
    const std::string joined = lines.empty() ? items[i] : lines.back() + " · " + items[i];
    const bool is_last_line = lines.size() == most;
    const std::string all_left = trace::base::joined(
        std::span(items).subspan(i + 1), "", [](const std::string& item) { return " · " + item; });
    if (is_last_line && fits(joined + all_left)) {
      lines.back() = joined + all_left;
      break;
    }
    if (!lines.empty() && fits(is_last_line ? with_more(joined, behind) : joined)) {
      lines.back() = joined;
    } else if (lines.size() < most) {
      lines.push_back(items[i]);
    } else {
      lines.back() = with_more(lines.back(), behind + 1);
      break;
    }
  }
  return lines;
}

}  // namespace shardlens::ui::present
