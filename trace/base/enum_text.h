// An enumeration's value by the text that its to_string() gives it. Any thread.
#pragma once

#include <optional>
#include <string_view>

namespace shardlens::trace::base {

// `last`: the last of its values, which count from 0.
template <typename Enum>
std::optional<Enum> enum_from_text(std::string_view text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace shardlens::trace::base
