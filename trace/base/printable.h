// Text from outside, safe to print: names, file contents and messages of libraries may hold
// anything, also what moves a terminal's cursor or turns the order of letters round. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace shardlens::trace::base {

// Valid UTF-8 without control characters (save line breaks and tabs), without Unicode's line and
// paragraph separators and without the characters that change the direction of text
// (CVE-2021-42574); what is none of it becomes "�".
std::string printable(std::string_view text);
// The same for what must stay on its line: a name, a cell, an error.
std::string printable_line(std::string_view text);
// The same with its tabs, and a space for each line break: words of a log, a message.
std::string printable_message(std::string_view text);
// Whether all of it is UTF-8, whatever its characters.
bool is_utf8(std::string_view text);
// A JSON document of the same values in which those characters are escaped (\u202e).
std::string printable_json(std::string_view document);

}  // namespace shardlens::trace::base
