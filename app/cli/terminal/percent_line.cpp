#include "app/cli/terminal/percent_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "trace/base/printable.h"

namespace shardlens::app::cli {

PercentLine::PercentLine(std::string what)
    : what_(trace::base::printable_line(what)), is_terminal_(isatty(STDERR_FILENO) == 1) {}

void PercentLine::show(double part) {
  const int percent = static_cast<int>(std::clamp(part, 0.0, 1.0) * 100);
  if (!is_terminal_ || percent == shown_) return;
  shown_ = percent;
  std::fprintf(stderr, "\r\033[K%s, %d %%", what_.c_str(), percent);
  std::fflush(stderr);
}

void PercentLine::end() {
  if (shown_ < 0) return;
  shown_ = -1;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace shardlens::app::cli
