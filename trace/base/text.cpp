#include "trace/base/text.h"

#include <algorithm>
#include <cctype>

namespace shardlens::trace::base {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string listed(const std::vector<std::string>& texts, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) text += i + 1 == texts.size() ? last : ", ";
    text += texts[i];
  }
  return text;
}

std::string some_of(std::span<const std::string> texts, std::size_t most) {
  const std::string named = joined(texts.first(std::min(texts.size(), most)));
  return texts.size() <= most ? named
                              : named + " and " + std::to_string(texts.size() - most) + " more";
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  const auto is_inside = [&](std::size_t at) { return (text[at] & 0xc0) == 0x80; };
  while (end > 0 && most - end < 4 && is_inside(end)) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace shardlens::trace::base
