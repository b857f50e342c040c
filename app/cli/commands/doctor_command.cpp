// `shardlens doctor`: what works on this machine, what does not, and what to do.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/doctor/health_check.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"

namespace shardlens::app::cli {
namespace {

struct DoctorArguments : CommonArguments {
  bool has_display = false;
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
  const auto checks =
      check_health({.runs_dir = options.runs_dir, .has_display = options.has_display});
  const report::Json machine = describe_machine();
  const bool works =
      std::ranges::none_of(checks, [](const auto& c) { return c.health == Health::kBad; });
  if (options.as_json()) {
    print_result(report::dump_json(
        {{"works", works}, {"machine", machine}, {"checks", checks_json(checks)}}));
  } else {
    print_result(machine_text(machine) + "\n\n" + checks_text(checks));
  }
  return works ? kDone : kFailed;
}

}  // namespace

void add_doctor_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "doctor", "What works on this machine, what does not, what to do", examine);
  options->has_display = line.surroundings.has_display;
  add_common(*command, *options);
  command->footer(
      "\"limited\" is what the program does without; \"fails\" (exit code 1) breaks jobs or\n"
      "recordings.\n\n"
      "Example:\n"
      "  shardlens doctor --json");
}

}  // namespace shardlens::app::cli
