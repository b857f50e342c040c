// Reading, writing and comparing settings by way of the table.
#include "trace/job/settings/settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "trace/base/number_text.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/base/words/suggestion.h"

namespace shardlens::trace::job {

namespace {

struct Alias {
  std::string_view alias, name;
};
constexpr std::array<Alias, 7> kAliases{{
    {"strategy", "sharding_strategy"},
    {"lr", "learning_rate"},
    {"batch_size", "batch_per_rank"},
    {"world_size", "ranks"},
    {"hook", "communication_hook"},
    {"grad_accum", "gradient_accumulation_steps"},
    {"zero_stage", "sharding_strategy"},
}};

// DeepSpeed's stages.
constexpr std::array<std::string_view, 4> kZeroStages{"ddp", "zero1", "shard_grad_op",
                                                      "full_shard"};

base::Result<std::string_view> strategy_of_zero_stage(std::string_view stage) {
  if (stage.size() == 1 && stage[0] >= '0' && stage[0] <= '3') return kZeroStages[stage[0] - '0'];
  return base::fail(base::ErrorKind::kUsage,
                    "zero_stage: '" + base::shortened(stage) +
                        "' is not valid; use 0 (ddp), 1 (zero1), 2 (shard_grad_op) "
                        "or 3 (full_shard).");
}

std::string join_choices(const Knob& knob) {
  return base::listed({knob.choices.begin(), knob.choices.end()}, " or ");
}

tl::unexpected<base::Error> bad_value(const Knob& knob, std::string_view text) {
  return base::fail(base::ErrorKind::kUsage, std::string(knob.name) + ": '" +
                                                 base::printable_line(base::shortened(text)) +
                                                 "' is not valid; use " + range_text(knob) + ".");
}

tl::unexpected<base::Error> no_utf8(const Knob& knob, std::string_view text) {
  return base::fail(base::ErrorKind::kUsage,
                    std::string(knob.name) + ": '" + base::printable_line(base::shortened(text)) +
                        "' is not UTF-8, which settings are kept in; rename the file or folder.");
}

base::Result<bool> parse_bool(const Knob& knob, std::string_view text) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return bad_value(knob, text);
}

base::Result<double> parse_ranged(const Knob& knob, std::string_view text, bool whole) {
  if (knob.may_be_auto && text == "auto") return static_cast<double>(kAuto);
  const auto value = base::number_from<double>(text);
  if (!value || *value < knob.minimum || *value > knob.maximum) return bad_value(knob, text);
  if (whole && *value != std::floor(*value)) return bad_value(knob, text);
  return *value;
}

// Its place among the choices.
base::Result<int> parse_choice(const Knob& knob, std::string_view text) {
  const auto found = std::ranges::find(knob.choices, text);
  if (found == knob.choices.end()) return bad_value(knob, text);
  return static_cast<int>(found - knob.choices.begin());
}

// `gbps` under its present name, so that one link is one setting.
std::string with_units_in_names(std::string_view simulated_link) {
  constexpr std::string_view kBefore = "gbps";
  std::string text(simulated_link);
  if (const auto at = text.find(kBefore); at != std::string::npos) {
    text.replace(at, kBefore.size(), "gbit_per_s");
  }
  return text;
}

std::string_view strategy_text(Strategy strategy) {
  return choice_text(choice_member<&Settings::sharding_strategy>(), static_cast<int>(strategy));
}

bool is_listed(std::string_view name, std::string_view names) {
  return std::ranges::any_of(base::split(names, ','),
                             [&](std::string_view each) { return base::trimmed(each) == name; });
}

// How a knob appears in a run's name: "cap 60", "hook bf16_compress", "views".
std::string name_part(const Settings& settings, const Knob& knob) {
  constexpr std::array<Alias, 14> kShort{{{"bucket_cap_mb", "cap"},
                                          {"first_bucket_mb", "first"},
                                          {"communication_hook", "hook"},
                                          {"gradient_as_bucket_view", "views"},
                                          {"static_graph", "static graph"},
                                          {"batch_per_rank", "batch"},
                                          {"sequence_length", "length"},
                                          {"gradient_accumulation_steps", "accumulation"},
                                          {"learning_rate", "lr"},
                                          {"simulate_link", "link"},
                                          {"shard_group_size", "groups of"},
                                          {"activation_checkpointing", "recompute"},
                                          {"wrap_policy", "units"},
                                          {"sharding_strategy", ""}}};
  std::string name;
  const auto* found = std::find_if(kShort.begin(), kShort.end(),
                                   [&](const Alias& a) { return a.alias == knob.name; });
  if (found != kShort.end()) {
    name = found->name;
  } else {
    name = knob.name;
    std::replace(name.begin(), name.end(), '_', ' ');
  }
  const std::string value = short_value_text(settings, knob);
  if (type_name(knob) == "bool") return value == "true" ? name : "no " + name;
  return name.empty() ? value : name + " " + value;
}

// Of a path; a slash at its end does not count.
std::string last_part(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return std::string(path.substr(path.find_last_of('/') + 1));
}

}  // namespace

const Knob* find_knob(std::string_view name) {
  for (const Alias& alias : kAliases) {
    if (alias.alias == name) name = alias.name;
  }
  for (const Knob& knob : knobs()) {
    if (knob.name == name) return &knob;
  }
  return nullptr;
}

bool applies(const Knob& knob, Strategy strategy) {
  return knob.applies_to.empty() || is_listed(strategy_text(strategy), knob.applies_to);
}

bool applies(const Knob& knob, const Settings& settings) {
  const bool has_no_gpu = settings.device == DeviceChoice::kCpu;
  return applies(knob, settings.sharding_strategy) && !(knob.needs_gpu && has_no_gpu);
}

std::string ignored_with(const Knob& knob, const Settings& settings) {
  if (!applies(knob, settings.sharding_strategy)) {
    return std::string(strategy_text(settings.sharding_strategy));
  }
  if (knob.depends_on.empty()) return "";
  const std::string value = value_text(settings, *find_knob(knob.depends_on));
  const bool is_obeyed =
      knob.obeyed_unless.empty() ? is_listed(value, knob.obeyed_with) : value != knob.obeyed_unless;
  return is_obeyed ? "" : std::string(knob.depends_on) + ": " + value;
}

std::string_view choice_text(ChoiceMember member, int place) {
  for (const Knob& knob : knobs()) {
    if (knob.member == KnobMember(member)) return knob.choices[static_cast<std::size_t>(place)];
  }
  return "";
}

std::string_view nearest_knob(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Knob& knob : knobs()) names.push_back(knob.name);
  return base::nearest_names(name.substr(0, 100), names).front();
}

std::string_view type_name(const Knob& knob) {
  if (std::holds_alternative<bool Settings::*>(knob.member)) return "bool";
  if (std::holds_alternative<std::int64_t Settings::*>(knob.member)) return "integer";
  if (std::holds_alternative<double Settings::*>(knob.member)) return "number";
  return std::holds_alternative<ChoiceMember>(knob.member) ? "choice" : "text";
}

std::string range_text(const Knob& knob) {
  const std::string_view type = type_name(knob);
  if (type == "bool") return "true or false";
  if (type == "choice") return join_choices(knob);
  if (type == "text") return std::string(knob.accepted.empty() ? "any text" : knob.accepted);
  std::string text = base::shortest_text(knob.minimum) + " to " + base::shortest_text(knob.maximum);
  if (type == "integer") text = "a whole number from " + text;
  if (!knob.unit.empty()) text += " " + std::string(knob.unit);
  if (knob.may_be_auto) text += ", or auto";
  return text;
}

std::string value_text(const Settings& settings, const Knob& knob) {
  if (const auto* member = std::get_if<bool Settings::*>(&knob.member)) {
    return settings.**member ? "true" : "false";
  }
  if (const auto* member = std::get_if<std::string Settings::*>(&knob.member)) {
    return settings.**member;
  }
  if (const auto* member = std::get_if<ChoiceMember>(&knob.member)) {
    return std::string(knob.choices[static_cast<std::size_t>(member->get(settings))]);
  }
  const auto* whole = std::get_if<std::int64_t Settings::*>(&knob.member);
  if (whole != nullptr) {
    const std::int64_t value = settings.**whole;
    return knob.may_be_auto && value == kAuto ? "auto" : std::to_string(value);
  }
  const double value = settings.*std::get<double Settings::*>(knob.member);
  return knob.may_be_auto && value == kAuto ? "auto" : base::shortest_text(value);
}

std::string default_text(const Knob& knob) { return value_text(Settings{}, knob); }

base::Result<void> set_value(Settings& settings, std::string_view name, std::string_view raw) {
  const Knob* knob = find_knob(base::trimmed(name));
  if (knob == nullptr) {
    return base::fail(base::ErrorKind::kUsage, unknown_setting_text(name));
  }
  std::string_view text = base::trimmed(raw);
  if (base::trimmed(name) == "zero_stage") {
    TRY_ASSIGN(text, strategy_of_zero_stage(text));
  }
  if (const auto* member = std::get_if<bool Settings::*>(&knob->member)) {
    TRY_ASSIGN(settings.**member, parse_bool(*knob, text));
  } else if (const auto* whole = std::get_if<std::int64_t Settings::*>(&knob->member)) {
    TRY_ASSIGN(const double value, parse_ranged(*knob, text, true));
    settings.** whole = static_cast<std::int64_t>(value);
  } else if (const auto* number = std::get_if<double Settings::*>(&knob->member)) {
    TRY_ASSIGN(settings.**number, parse_ranged(*knob, text, false));
  } else if (const auto* choice = std::get_if<ChoiceMember>(&knob->member)) {
    TRY_ASSIGN(const int place, parse_choice(*knob, text));
    choice->set(settings, place);
  } else {
    if (text.empty()) return bad_value(*knob, text);
    if (!base::is_utf8(text)) return no_utf8(*knob, text);
    auto& value = settings.*std::get<std::string Settings::*>(knob->member);
    value = text;
    if (knob->name == "simulate_link") value = with_units_in_names(value);
  }
  return {};
}

void copy_value(const Knob& knob, const Settings& from, Settings& to) {
  if (const auto* choice = std::get_if<ChoiceMember>(&knob.member)) {
    choice->set(to, choice->get(from));
    return;
  }
  std::visit(
      [&](auto member) {
        if constexpr (!std::is_same_v<decltype(member), ChoiceMember>) to.*member = from.*member;
      },
      knob.member);
}

base::Result<void> set_assignment(Settings& settings, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return base::fail(base::ErrorKind::kUsage,
                      "'" + base::shortened(assignment) +
                          "' is not of the form key=value, as in bucket_cap_mb=4.");
  }
  return set_value(settings, assignment.substr(0, equals), assignment.substr(equals + 1));
}

std::vector<const Knob*> differing_knobs(const Settings& a, const Settings& b) {
  std::vector<const Knob*> differing;
  for (const Knob& knob : knobs()) {
    if (value_text(a, knob) != value_text(b, knob)) differing.push_back(&knob);
  }
  return differing;
}

std::string name_from_values(const Settings& settings, std::span<const Knob* const> knobs) {
  std::string name;
  for (const Knob* knob : knobs) {
    const std::string part = name_part(settings, *knob);
    if (name.size() + part.size() + 2 > 60) break;
    name += (name.empty() ? "" : ", ") + part;
  }
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view(" .,_-").find(c) != std::string_view::npos;
    if (!plain) c = '-';
  }
  return name;
}

std::string name_from_difference(const Settings& base, const Settings& next) {
  auto differing = differing_knobs(base, next);
  std::erase_if(differing,
                [&](const Knob* knob) { return !applies(*knob, next.sharding_strategy); });
  const std::string name = name_from_values(next, differing);
  return name.empty() ? "baseline" : name;
}

bool names_a_path(const Knob& knob) {
  constexpr std::array<std::string_view, 6> kPaths{"model",           "tokenizer", "data",
                                                   "evaluation_data", "resume",    "token_cache"};
  return std::ranges::find(kPaths, knob.name) != kPaths.end();
}

std::string short_value_text(const Settings& settings, const Knob& knob) {
  const std::string value = value_text(settings, knob);
  return names_a_path(knob) ? last_part(value) : value;
}

std::string unknown_setting_text(std::string_view name) {
  const std::string_view nearest = nearest_knob(name);
  const bool is_meant = base::is_near(name.substr(0, 100), nearest);
  return "Unknown setting '" + base::shortened(name) + "'." +
         (is_meant ? " Did you mean '" + std::string(nearest) + "'?" : "") +
         " `shardlens settings` lists all.";
}

}  // namespace shardlens::trace::job
