// `shardlens settings`: every knob, from the one table that describes them; a file of settings,
// also one of another framework, as ours.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "app/settings/settings_input.h"
#include "trace/base/text.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/strategy.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::app::cli {
namespace {

struct SettingsArguments : CommonArguments {
  std::string key;
};

// With which it has an effect: "full_shard, hybrid_shard"; "all".
std::string strategies_text(const trace::job::Knob& knob) {
  std::vector<std::string_view> names;
  for (const auto& traits : trace::job::strategies()) {
    if (trace::job::has_effect(knob, traits.strategy)) names.push_back(traits.name);
  }
  const bool are_all = names.size() == trace::job::strategies().size();
  return are_all ? "all" : trace::base::joined(names, ", ");
}

report::Json knob_description(const trace::job::Knob& knob) {
  const bool is_number =
      trace::job::type_name(knob) == "integer" || trace::job::type_name(knob) == "number";
  return {{"name", knob.name},
          {"label", knob.label},
          {"group", trace::job::to_string(knob.group)},
          {"type", trace::job::type_name(knob)},
          {"unit", report::text_or_null(knob.unit)},
          {"default", report::knob_json(trace::job::Settings{}, knob)},
          {"minimum", report::known(is_number, knob.minimum)},
          {"maximum", report::known(is_number, knob.maximum)},
          {"may_be_auto", knob.may_be_auto},
          {"choices", knob.choices},
          {"range", trace::job::range_text(knob)},
          {"explanation", knob.explanation},
          {"applies_to", strategies_text(knob)},
          {"needs_gpu", knob.needs_gpu}};
}

std::string knob_text(const trace::job::Knob& knob) {
  report::TextTable table({{""}, {"", report::Align::kLeft, 200}});
  table.add_row({"type", std::string(trace::job::type_name(knob))});
  table.add_row({"range", trace::job::range_text(knob)});
  table.add_row({"default", trace::job::default_text(knob)});
  table.add_row({"applies to", strategies_text(knob)});
  if (knob.needs_gpu) table.add_row({"needs", "a GPU; does nothing on a CPU"});
  return std::string(knob.name) + ": " + std::string(knob.explanation) + "\n" +
         table.text("  ", false);
}

std::string all_knobs_text() {
  std::string text;
  for (int group = 0; group < trace::job::kKnobGroupCount; ++group) {
    const auto heading = static_cast<trace::job::KnobGroup>(group);
    report::TextTable table({{"key"},
                             {"default"},
                             {"range", report::Align::kLeft, 44},
                             {"", report::Align::kLeft, 120}});
    for (const auto& knob : trace::job::knobs()) {
      if (knob.group != heading) continue;
      table.add_row({std::string(knob.name), trace::job::default_text(knob),
                     trace::job::range_text(knob), std::string(knob.explanation)});
    }
    text += (group == 0 ? "" : "\n") + std::string(trace::job::to_string(heading)) + "\n" +
            table.text();
  }
  return text;
}

report::Json file_json(const settings::SettingsInput& input) {
  report::Json changed = report::Json::object();
  for (const auto* knob : trace::job::differing_knobs({}, input.settings)) {
    changed[std::string(knob->name)] = report::knob_json(input.settings, *knob);
  }
  report::Json ignored = report::Json::array(), differs = report::Json::array();
  if (input.foreign) {
    for (const auto& each : input.foreign->ignored) {
      ignored.push_back({{"key", each.key}, {"value", each.value}, {"reason", each.reason}});
    }
    differs = input.foreign->remarks;
  }
  const std::string_view framework =
      input.foreign ? trace::frameworks::to_string(input.foreign->framework) : "Shardlens";
  return {{"framework", framework},
          {"settings", std::move(changed)},
          {"ignored", std::move(ignored)},
          {"differs", std::move(differs)}};
}

trace::base::Result<int> show_file(const std::string& file, bool as_json) {
  TRY_ASSIGN(const auto input, settings::read_settings_input(file));
  if (as_json) {
    print_result(report::dump_json(file_json(input)));
    return kDone;
  }
  print_result(trace::store::settings_to_yaml(input.settings));
  if (input.foreign) print_lines(trace::frameworks::remarks_text(*input.foreign));
  return kDone;
}

trace::base::Result<int> show_settings(const SettingsArguments& options) {
  const bool as_json = options.as_json();
  if (options.key.empty()) {
    report::Json all = report::Json::array();
    for (const auto& knob : trace::job::knobs()) all.push_back(knob_description(knob));
    print_result(as_json ? report::dump_json(all) : all_knobs_text());
    return kDone;
  }
  const trace::job::Knob* knob = trace::job::find_knob(options.key);
  std::error_code error;
  if (knob == nullptr && std::filesystem::exists(options.key, error)) {
    return show_file(options.key, as_json);
  }
  if (knob == nullptr) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             trace::job::unknown_setting_text(options.key));
  }
  print_result(as_json ? report::dump_json(knob_description(*knob)) : knob_text(*knob));
  return kDone;
}

}  // namespace

void add_settings_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "settings", "Every setting: type, range, default, meaning", show_settings);
  command
      ->add_option("KEY", options->key,
                   "Only this one; or a file of settings, a ds_config.json or Accelerate's YAML: "
                   "what it sets")
      ->type_name("KEY|FILE");
  add_common(*command, *options);
  command->footer(
      "Of a file all settings that differ from the defaults are printed as YAML that every "
      "command\n"
      "reads. Keys of DeepSpeed and Accelerate without a counterpart are listed on standard "
      "error.\n\n"
      "Examples:\n"
      "  shardlens settings bucket_cap_mb\n"
      "  shardlens settings ds_config.json > job.yaml");
}

}  // namespace shardlens::app::cli
