// `shardlens doctor`: what works on this machine, what does not, and what to do.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/commands/add_command.h"
#include "app/cli/doctor/health_check.h"
#include "app/cli/doctor/machine_description.h"
#include "app/cli/terminal/output.h"
#include "app/report/text_table.h"

namespace shardlens::app::cli {
namespace {

struct DoctorArguments {
  std::string format;
  HealthContext context{.runs_dir = "runs"};
};

const char* health_name(Health health) {
  switch (health) {
    case Health::kGood:
      return "works";
    case Health::kLimited:
      return "limited";
    case Health::kBad:
      return "fails";
  }
  return "";
}

report::Json checks_json(const std::vector<HealthCheck>& checks) {
  report::Json list = report::Json::array();
  for (const auto& check : checks) {
    list.push_back(
        {{"name", check.name},
         {"state", health_name(check.health)},
         {"finding", check.finding},
         {"advice", check.advice.empty() ? report::Json(nullptr) : report::Json(check.advice)}});
  }
  return list;
}

std::string checks_text(const std::vector<HealthCheck>& checks) {
  report::TextTable table({{""}, {""}, {"", report::Align::kLeft, 160}});
  for (const auto& check : checks) {
    table.add_row({check.name, health_name(check.health), check.finding});
    if (!check.advice.empty()) table.add_row({"", "", "→ " + check.advice});
  }
  return table.text("", false);
}

trace::base::Result<int> examine(const DoctorArguments& options) {
  const auto checks = check_health(options.context);
  const report::Json machine = describe_machine();
  const bool works =
      std::ranges::none_of(checks, [](const auto& c) { return c.health == Health::kBad; });
  if (options.format == "json") {
    print_result(report::dump_json(
        {{"works", works}, {"machine", machine}, {"checks", checks_json(checks)}}));
  } else {
    print_result(machine_text(machine) + "\n\n" + checks_text(checks));
  }
  return works ? kDone : kFailed;
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& chosen, bool has_display) {
  const auto [command, options] = add_command(
      app, chosen, "doctor", "What works on this machine, what does not, what to do", examine);
  options->context.has_display = has_display;
  add_format(*command, options->format, {"text", "json"});
  add_runs_dir(*command, options->context.runs_dir);
  command->footer(
      "\"limited\" is what the program does without; \"fails\" (exit code 1) breaks jobs or\n"
      "recordings.\n\n"
      "Example:\n"
      "  shardlens doctor --json");
}

}  // namespace shardlens::app::cli
