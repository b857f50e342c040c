// The few things about texts that the standard library lacks. Any thread.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardlens::trace::base {

// Without the white space around it.
std::string_view trimmed(std::string_view text);

// Both of ASCII letters; other bytes stay as they are.
std::string lower_case(std::string_view text);
bool equal_but_for_case(std::string_view a, std::string_view b);

// The parts between separators, one more than there are separators. Views of `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

// "a", "a and b", "a, b and c", with `last` before the last one.
std::string listed(const std::vector<std::string>& texts, std::string_view last = " and ");

// "a, b": what `text_of` makes of each, a text or an integer, with `separator` between.
template <typename Texts, typename TextOf = std::identity>
std::string joined(Texts&& texts, std::string_view separator = ", ", TextOf text_of = {}) {
  std::string all;
  bool is_first = true;
  for (auto&& each : texts) {
    if (!std::exchange(is_first, false)) all += separator;
    auto&& text = std::invoke(text_of, each);
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(text)>>) {
      all += std::to_string(text);
    } else {
      all += text;
    }
  }
  return all;
}

// "a, b and 3 more": not more than `most` of them are named.
std::string some_of(std::span<const std::string> texts, std::size_t most);

// What a message repeats of a text that may be of any length: its first bytes, then "…", no
// character cut in its middle.
std::string shortened(std::string_view text, std::size_t most = 200);
// "1,204", "-1,204"
std::string grouped(std::int64_t number);

// The number that all of `text` is; none where it is something else, or not finite.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

// `names`: of all values in order, up to kLast. What lies beyond was damaged, or is another
// version's.
template <auto kLast, std::size_t kCount>
constexpr std::string_view enum_name(const std::array<std::string_view, kCount>& names,
                                     decltype(kLast) value) {
  static_assert(kCount == static_cast<std::size_t>(kLast) + 1);
  const auto place = static_cast<std::size_t>(value);
  return place < kCount ? names[place] : "unknown";
}
// `last`: the last of its values, which count from 0.
template <typename Enum>
std::optional<Enum> enum_from_text(std::string_view text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace shardlens::trace::base
