// The end of a rank's log file. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shardlens::app::launch {

// At most `count` lines, the last one last; empty if there is no such file.
std::vector<std::string> log_tail(const std::filesystem::path& log, std::size_t count);

// What a rank said at last: the text of its last "error: " line, else what LibTorch's watchdog
// first said of a collective that did not end, else its last line outside of stack traces, which
// need not say why it ended.
struct LastWords {
  std::string text;
  bool is_error = false;  // one of the first two
};
LastWords last_message(const std::filesystem::path& log);

}  // namespace shardlens::app::launch
