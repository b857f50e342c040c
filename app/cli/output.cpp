#include "app/cli/output.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/cli/command_line.h"
#include "app/cli/printable.h"

namespace shardlens::app {

void print_result(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_message(std::string_view text) { std::fprintf(stderr, "%s\n", printable(text).c_str()); }

int report_error(const trace::Error& error) {
  print_message("error: " + error.message);
  return error.kind == trace::ErrorKind::kUsage ? kWrongUse : kFailed;
}

void add_runs_dir(CLI::App& command, std::filesystem::path& runs_dir) {
  command.add_option("--runs-dir", runs_dir, "The library: the folder that holds the runs")
      ->type_name("DIR")
      ->capture_default_str();
  // Also where it was given before the command.
  CLI::App* parent = command.get_parent();
  if (parent == nullptr) return;
  command.preparse_callback([parent, &runs_dir](std::size_t) {
    const auto given = parent->get_option("--runs-dir")->results();
    if (!given.empty()) runs_dir = given.back();
  });
}

void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& choices) {
  format = choices.front();
  command.add_option("--format", format, "How the result is written")
      ->check(CLI::IsMember(choices))
      ->capture_default_str();
  command.add_flag_callback(
      "--json", [&format] { format = "json"; },
      "The same as --format json: one JSON document on standard output and nothing else");
}

}  // namespace shardlens::app
