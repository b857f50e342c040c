#include "app/launch/log_tail.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace shardlens::app::launch {
namespace {

// Enough for any stack trace; a log may be far longer.
constexpr std::streamoff kTailBytes = 64 * 1024;
constexpr std::string_view kErrorPrefix = "error: ";
// What LibTorch's watchdog says of a collective before it ends the process.
constexpr std::string_view kWatchdog = "Watchdog caught collective operation timeout";

// Of the stack trace with which a process ends that LibTorch or the C++ runtime aborted.
bool is_trace(std::string_view line) {
  constexpr std::array<std::string_view, 3> kStarts = {"frame #", "Exception raised from",
                                                       "terminate called"};
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return true;
  line.remove_prefix(first);
  return std::ranges::any_of(kStarts, [&](auto start) { return line.starts_with(start); });
}

}  // namespace

std::vector<std::string> log_tail(const std::filesystem::path& log, std::size_t count) {
  // Opening a pipe would wait for its writer.
  std::error_code error;
  if (!std::filesystem::is_regular_file(log, error)) return {};
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  const std::streamoff start = std::max<std::streamoff>(0, size - kTailBytes);
  file.seekg(start);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  if (start > 0 && !lines.empty()) lines.erase(lines.begin());  // cut in its middle
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

LastWords last_message(const std::filesystem::path& log) {
  const auto lines = log_tail(log, 400);
  std::string last, watchdog;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->starts_with(kErrorPrefix)) return {line->substr(kErrorPrefix.size()), true};
    if (last.empty() && !is_trace(*line)) last = *line;
    const auto told = line->find(kWatchdog);
    if (told != std::string::npos) watchdog = line->substr(told);
  }
  if (!watchdog.empty()) return {std::move(watchdog), true};
  return {std::move(last), false};
}

}  // namespace shardlens::app::launch
