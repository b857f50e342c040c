#include "app/launch/log_tail.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace shardlens::app {
namespace {

// Enough for any stack trace; a log may be far longer.
constexpr std::streamoff kTailBytes = 64 * 1024;
constexpr std::string_view kErrorPrefix = "error: ";

}  // namespace

std::vector<std::string> log_tail(const std::filesystem::path& log, std::size_t count) {
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

std::string last_message(const std::filesystem::path& log) {
  const auto lines = log_tail(log, 400);
  std::string last;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->starts_with(kErrorPrefix)) return line->substr(kErrorPrefix.size());
    if (last.empty() && line->find_first_not_of(" \t") != std::string::npos) last = *line;
  }
  return last;
}

}  // namespace shardlens::app
