#include "app/cli/job/job_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/settings/settings_input.h"

namespace shardlens::app::cli {
namespace {

using ShortForm = std::pair<const char*, const std::optional<std::string>&>;

std::array<ShortForm, 4> short_forms(const JobArguments& arguments) {
  return {{{"ranks", arguments.ranks},
           {"steps", arguments.steps},
           {"device", arguments.device},
           {"simulate_link", arguments.link}}};
}

// What --set says of the same is not resolved silently.
trace::base::Result<void> set_by_short_form(const JobArguments& arguments, std::string_view key,
                                            const std::string& text,
                                            trace::job::Settings& settings) {
  const trace::job::Knob* knob = trace::job::find_knob(key);
  const std::string before = value_text(settings, *knob);
  TRY(trace::job::set_value(settings, key, text));
  const bool is_set = std::ranges::any_of(arguments.assignments, [&](std::string_view assignment) {
    return trace::job::find_knob(assignment.substr(0, assignment.find('='))) == knob;
  });
  const std::string after = value_text(settings, *knob);
  if (!is_set || before == after) return {};
  return trace::base::fail(trace::base::ErrorKind::kUsage,
                           std::string(key) + " is given twice, as " + before + " and as " + after +
                               ": leave out one of them.");
}

trace::base::Result<void> set_given(const JobArguments& arguments, trace::job::Settings& settings) {
  for (const auto& assignment : arguments.assignments) {
    TRY(trace::job::set_assignment(settings, assignment));
  }
  for (const auto& [key, text] : short_forms(arguments)) {
    if (text) TRY(set_by_short_form(arguments, key, *text, settings));
  }
  if (arguments.oversubscribe) settings.oversubscribe = true;
  return {};
}

}  // namespace

trace::base::Result<trace::job::Settings> settings_of(const JobArguments& arguments) {
  TRY_ASSIGN(auto given, said_settings_of(arguments));
  return std::move(given.settings);
}

trace::base::Result<trace::store::SaidSettings> said_settings_of(const JobArguments& arguments) {
  trace::store::SaidSettings given;
  TRY(set_given(arguments, given.settings));
  if (!arguments.settings_file.empty()) {
    TRY_ASSIGN(auto input,
               app::settings::read_settings_input(arguments.settings_file, given.settings.ranks));
    if (input.foreign) print_lines(trace::frameworks::remarks_text(*input.foreign));
    given = {std::move(input.settings), std::move(input.said)};
    TRY(set_given(arguments, given.settings));
  }
  for (const auto* knob : knobs_given(arguments)) given.said.push_back(knob->name);
  return given;
}

std::vector<const trace::job::Knob*> knobs_given(const JobArguments& arguments) {
  std::vector<const trace::job::Knob*> knobs;
  for (const auto& assignment : arguments.assignments) {
    const std::string_view key = std::string_view(assignment).substr(0, assignment.find('='));
    knobs.push_back(trace::job::find_knob(key));
  }
  for (const auto& [key, text] : short_forms(arguments)) {
    if (text) knobs.push_back(trace::job::find_knob(key));
  }
  if (arguments.oversubscribe) knobs.push_back(trace::job::find_knob("oversubscribe"));
  return knobs;
}

void add_job_arguments(CLI::App& command, JobArguments& arguments) {
  command.add_option("SETTINGS", arguments.settings_file,
                     "A flat YAML file of settings, a ds_config.json, or Accelerate's YAML");
  add_repeated(command, "--set", arguments.assignments, "One setting; may be given several times",
               "KEY=VALUE");
  command.add_option("--ranks", arguments.ranks, "How many processes train together")
      ->type_name("N");
  command.add_option("--steps", arguments.steps, "How many optimizer steps")->type_name("N");
  command.add_option("--device", arguments.device, "auto, cpu or cuda")->type_name("DEVICE");
  command.add_option("--link", arguments.link, "Simulates a slower link between CPU ranks")
      ->type_name("latency_us=A,gbit_per_s=B");
  command.add_flag("--oversubscribe", arguments.oversubscribe, "Lets ranks share a GPU");
}

}  // namespace shardlens::app::cli
