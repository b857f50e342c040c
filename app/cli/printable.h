// Text from outside, safe to print: names, file contents and messages of libraries may hold
// anything. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace shardlens::app {

// Valid UTF-8 without control characters, save line breaks and tabs; what is neither becomes "�".
std::string printable(std::string_view text);

}  // namespace shardlens::app
