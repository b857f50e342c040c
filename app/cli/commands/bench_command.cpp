// `shardlens bench`: runs a benchmark program that lies beside this one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "app/cli/commands.h"
#include "app/cli/doctor/child_output.h"
#include "app/cli/doctor/health_check.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/launch/program_files.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

constexpr std::string_view kPrefix = "bench_";

struct BenchArguments : CommonArguments {
  std::string name;
  std::vector<std::string> arguments;
  const HandedOn* handed_on = nullptr;
};

const std::string kNoneBuilt = "none is built; ./run bench NAME builds them";

std::vector<std::string> available() {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(launch::program_folder(), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename();
    if (file.starts_with(kPrefix)) names.insert(file.substr(kPrefix.size()));
  }
  return {names.begin(), names.end()};
}

trace::base::Result<std::filesystem::path> find_benchmark(const std::string& name) {
  const auto program = launch::program_folder() / (std::string(kPrefix) + name);
  const bool plain = name.find('/') == std::string::npos;
  if (plain && std::filesystem::exists(program)) return program;
  const auto names = available();
  return trace::base::fail(trace::base::ErrorKind::kUsage,
                           "bench: " + (names.empty() ? kNoneBuilt : not_one_of(name, names)));
}

// What a benchmark prints: an array of rows, or an object that holds them.
trace::base::Result<report::Json> rows_of(const std::string& output, const std::string& name) {
  report::Json json = report::Json::parse(output, nullptr, false);
  if (json.is_object() && json.contains("rows")) json = json["rows"];
  if (json.is_array()) return json;
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "The benchmark " + name + " printed no rows that could be read.");
}

std::string cell(const report::Json& row, const char* key) {
  const auto value = row.find(key);
  if (value == row.end() || value->is_null()) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_boolean()) return value->get<bool>() ? "yes" : "no";
  if (value->is_number()) return ui::present::format_number(value->get<double>());
  return value->dump();
}

std::string rows_text(const report::Json& rows, const report::Json& machine) {
  report::TextTable table({{"what"},
                           {"value", report::Align::kRight},
                           {"unit"},
                           {"peer"},
                           {"ratio", report::Align::kRight},
                           {"budget"},
                           {"met"}});
  for (const auto& row : rows) {
    table.add_row({cell(row, "what"), cell(row, "value"), cell(row, "unit"), cell(row, "peer"),
                   cell(row, "ratio"), cell(row, "budget"), cell(row, "met")});
  }
  return machine_text(machine) + "\n" + table.text();
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(
      arguments, [](const std::string& each) { return each == "--help" || each == "-h"; });
}

trace::base::Result<int> bench(const BenchArguments& options) {
  TRY_ASSIGN(const auto program, find_benchmark(options.name));
  StopRequest stop;
  // Its made-up runs go with it, however it ends.
  TRY_ASSIGN(const auto temporary, trace::base::TemporaryFolder::create());
  stop.remove_if_ended(temporary.path());
  std::vector<std::string> arguments = options.arguments;
  arguments.insert(arguments.end(), options.handed_on->begin(), options.handed_on->end());
  TRY_ASSIGN(const auto output,
             run_and_read(program, arguments, temporary.path(), [&] { return !stop.is_made(); }));
  if (asks_for_help(arguments)) {
    print_result(output);
    return kDone;
  }
  TRY_ASSIGN(const auto rows, rows_of(output, options.name));
  const report::Json machine = describe_machine();
  print_result(
      options.as_json()
          ? report::dump_json({{"bench", options.name}, {"machine", machine}, {"rows", rows}})
          : rows_text(rows, machine));
  for (const auto& row : rows) {
    if (row.is_object() && row.value("met", report::Json(nullptr)) == report::Json(false))
      return kFailed;
  }
  return kDone;
}

}  // namespace

void add_bench_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "bench", "Measures Shardlens itself against its budgets", bench);
  options->handed_on = &line.handed_on;
  command->add_option("NAME", options->name, "Which benchmark")->required();
  command->add_option("ARGUMENTS", options->arguments,
                      "Handed to the benchmark; after -- if they begin with a dash");
  add_common(*command, *options);
  const auto names = available();
  command->footer("Benchmarks: " + (names.empty() ? kNoneBuilt : trace::base::joined(names)) +
                  "\nThe exit code is 1 if a budget was not met.\n\n"
                  "Example:\n"
                  "  shardlens bench recorder --json\n"
                  "  shardlens bench trace -- --events 1000000");
}

}  // namespace shardlens::app::cli
