#include "app/cli/job/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "app/cli/terminal/output.h"
#include "app/report/text_table.h"
#include "trace/base/printable.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr std::int64_t kSayEveryPercent = 10;

std::string bar(double fraction, int width) {
  const int full = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * width));
  std::string text;
  for (int i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text + "  ";
}

// A line that wraps could not be erased again.
std::size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1u : 79u;
}

}  // namespace

std::string progress_text(const std::string& name, const RunProgress& progress, int bar_width) {
  const bool bounded = progress.steps_total > 0;
  const auto done = static_cast<double>(progress.steps_done);
  const auto total = static_cast<double>(progress.steps_total);
  std::string text = name + "  ";
  if (bounded && bar_width > 0) text += bar(done / total, bar_width);
  text += "step " + ui::present::format_integer(progress.steps_done);
  if (bounded) text += " of " + ui::present::format_integer(progress.steps_total);
  if (progress.step_ns > 0)
    text += "  " + ui::present::format_duration(progress.step_ns).text() + "/step";
  if (std::isfinite(progress.loss)) text += "  loss " + report::loss_text(progress.loss);
  if (progress.seconds_left) {
    text += "  " + ui::present::format_seconds_left(*progress.seconds_left);
  } else if (bounded && progress.step_ns > 0 && progress.steps_done < progress.steps_total) {
    text += "  " + ui::present::format_seconds_left((total - done) * progress.step_ns / 1e9);
  }
  return text;
}

ProgressLine::ProgressLine(std::string run_name, Elsewhere elsewhere)
    : name_(std::move(run_name)), elsewhere_(elsewhere), is_terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::end() {
  if (drawn_) std::fputc('\n', stderr);
  drawn_ = false;
}

void ProgressLine::erase() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void ProgressLine::show(const RunProgress& progress) {
  if (is_terminal_) {
    erase();
    const std::string text = trace::base::printable_line(progress_text(name_, progress, kBarWidth));
    std::fputs(report::cut_to_width(text, terminal_width()).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = true;
    return;
  }
  if (progress.steps_total == 0 || elsewhere_ == Elsewhere::kIsSilent) return;
  const std::int64_t percent = 100 * progress.steps_done / progress.steps_total;
  if (percent < said_percent_ + kSayEveryPercent) return;
  said_percent_ = percent - percent % kSayEveryPercent;
  print_message(progress_text(name_, progress, 0));
}

void ProgressLine::say(const std::string& message) {
  erase();
  print_message(message);
}

}  // namespace shardlens::app::cli
