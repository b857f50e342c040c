// `shardlens settings`: every knob, from the one table that describes them.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/commands.h"
#include "app/cli/terminal/exit_code.h"
#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app {
namespace {

struct SettingsArguments {
  std::string key;
  std::string format;
  std::filesystem::path runs_dir = "runs";  // accepted as everywhere; no run is looked at
};

Json knob_description(const trace::Knob& knob) {
  Json choices = Json::array();
  for (const auto choice : knob.choices) choices.push_back(choice);
  const bool is_number = type_name(knob) == "integer" || type_name(knob) == "number";
  return {{"name", knob.name},
          {"label", knob.label},
          {"group", to_string(knob.group)},
          {"type", type_name(knob)},
          {"unit", knob.unit.empty() ? Json(nullptr) : Json(knob.unit)},
          {"default", knob_json(trace::Settings{}, knob)},
          {"minimum", is_number ? Json(knob.minimum) : Json(nullptr)},
          {"maximum", is_number ? Json(knob.maximum) : Json(nullptr)},
          {"may_be_auto", knob.may_be_auto},
          {"choices", std::move(choices)},
          {"range", range_text(knob)},
          {"explanation", knob.explanation},
          {"applies_to", knob.applies_to.empty() ? Json("all") : Json(knob.applies_to)}};
}

std::string knob_text(const trace::Knob& knob) {
  TextTable table({{""}, {"", Align::kLeft, 200}});
  table.add_row({"type", std::string(type_name(knob))});
  table.add_row({"range", range_text(knob)});
  table.add_row({"default", default_text(knob)});
  table.add_row({"applies to", std::string(knob.applies_to.empty() ? "all" : knob.applies_to)});
  return std::string(knob.name) + ": " + std::string(knob.explanation) + "\n" +
         table.text("  ", false);
}

std::string all_knobs_text() {
  std::string text;
  for (int group = 0; group < trace::kKnobGroupCount; ++group) {
    const auto heading = static_cast<trace::KnobGroup>(group);
    TextTable table({{"key"}, {"default"}, {"range", Align::kLeft, 44}, {"", Align::kLeft, 120}});
    for (const auto& knob : trace::knobs()) {
      if (knob.group != heading) continue;
      table.add_row({std::string(knob.name), default_text(knob), range_text(knob),
                     std::string(knob.explanation)});
    }
    text += (group == 0 ? "" : "\n") + std::string(to_string(heading)) + "\n" + table.text();
  }
  return text;
}

int show_settings(const SettingsArguments& options) {
  const bool as_json = options.format == "json";
  if (options.key.empty()) {
    Json all = Json::array();
    for (const auto& knob : trace::knobs()) all.push_back(knob_description(knob));
    print_result(as_json ? dump_json(all) + "\n" : all_knobs_text());
    return kDone;
  }
  const trace::Knob* knob = trace::find_knob(options.key);
  if (knob == nullptr) {
    return report_error(
        {trace::ErrorKind::kUsage, "There is no setting \"" + options.key + "\". Did you mean " +
                                       std::string(trace::nearest_knob(options.key)) + "?"});
  }
  print_result(as_json ? dump_json(knob_description(*knob)) + "\n" : knob_text(*knob));
  return kDone;
}

}  // namespace

void add_settings_command(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<SettingsArguments>();
  auto* command = app.add_subcommand("settings", "Every setting: type, range, default, meaning");
  command->add_option("KEY", options->key, "Only this one");
  add_format(*command, options->format, {"text", "json"});
  add_runs_dir(*command, options->runs_dir);
  command->footer(
      "Example:\n"
      "  shardlens settings bucket_cap_mb");
  command->callback([&chosen, options] { chosen = [options] { return show_settings(*options); }; });
}

}  // namespace shardlens::app
