#include "app/cli/terminal/output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

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
  std::fprintf(stderr, "%s\n", trace::base::printable_message(text).c_str());
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

}  // namespace shardlens::app::cli
