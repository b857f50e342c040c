// The few things about texts that the standard library lacks. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::trace::base {

// Without the white space around it.
std::string_view trimmed(std::string_view text);

// Of ASCII letters.
bool equal_but_for_case(std::string_view a, std::string_view b);

// The parts between separators, one more than there are separators. Views of `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

// What a message repeats of a text that may be of any length: its first bytes, then "…", no
// character cut in its middle.
std::string shortened(std::string_view text, std::size_t most = 200);
// "1,204", "-1,204"
std::string grouped(std::int64_t number);

// `last`: the last of its values, which count from 0.
template <typename Enum>
std::optional<Enum> enum_from_text(std::string_view text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace shardlens::trace::base
