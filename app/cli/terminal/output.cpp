#include "app/cli/terminal/output.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "app/cli/terminal/one_of.h"
#include "trace/base/printable.h"

namespace shardlens::app::cli {
namespace {

void write_out(std::string_view bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

void print_result(std::string_view text) { write_out(trace::base::printable(text)); }

void print_message(std::string_view text) {
  std::fprintf(stderr, "%s\n", trace::base::printable(text).c_str());
}

void print_lines(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    print_message(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_data(std::string_view data) {
  if (isatty(STDOUT_FILENO) == 1) {
    print_result(data);
  } else {
    write_out(data);
  }
}

bool reader_has_left() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

int report_error(const trace::base::Error& error) {
  print_message("error: " + trace::base::printable_line(error.message));
  return error.kind == trace::base::ErrorKind::kUsage ? kWrongUse : kFailed;
}

void add_run(CLI::App& command, std::string& run) {
  command.add_option("RUN", run, "A run's name or number, its folder or a packed file")->required();
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
      ->check(one_of(choices))
      ->capture_default_str();
  command.add_flag_callback(
      "--json", [&format] { format = "json"; },
      "The same as --format json: one JSON document on standard output and nothing else");
}

}  // namespace shardlens::app::cli
