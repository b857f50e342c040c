#include "trainer/chat/python_text.h"

#include <algorithm>
#include <cstring>

#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {

namespace {

bool continues(std::string_view text, std::size_t byte) {
  return byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xC0U) == 0x80U;
}

std::size_t sequence_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

}  // namespace

Character character_at(std::string_view text, std::size_t byte) {
  const auto lead = static_cast<unsigned char>(text[byte]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = sequence_bytes(lead);
  if (bytes == 0) return {lead, 1};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text, byte + i)) return {lead, 1};
    code = (code << 6) | (static_cast<unsigned char>(text[byte + i]) & 0x3FU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    return {lead, 1};
  }
  return {code, bytes};
}

void append_character(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.bytes == 1 && static_cast<unsigned char>(text[at]) >= 0x80) return false;
    at += character.bytes;
  }
  return true;
}

std::int64_t character_count(std::string_view text) {
  std::int64_t total = 0;
  for (std::size_t at = 0; at < text.size(); ++total) at += character_at(text, at).bytes;
  return total;
}

std::size_t byte_of_character(std::string_view text, std::int64_t position) {
  std::size_t at = 0;
  for (; position > 0 && at < text.size(); --position) at += character_at(text, at).bytes;
  return at;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_at(text, at).bytes;
    result.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return result;
}

std::uint32_t traits_of(char32_t code) {
  const auto runs = trait_runs();
  const auto after =
      std::upper_bound(runs.begin(), runs.end(), std::uint64_t{code} << 16 | 0xFFFFU);
  const std::uint64_t run = *std::prev(after);
  const bool is_second = (code - (run >> 16)) % 2 != 0;
  return static_cast<std::uint32_t>(is_second ? run >> 8 : run) & 0xFFU;
}

bool is_space(char32_t code) {
  if (code < 0x80) return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool all_have(std::string_view text, std::uint32_t traits) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if ((traits_of(character.code) & traits) == 0) return false;
    at += character.bytes;
  }
  return !text.empty();
}

bool all_spaces(std::string_view text) { return !text.empty() && strip(text, Side::kBoth).empty(); }

namespace {

// What strip() takes away: the characters of a text, or spaces.
class StrippedSet {
 public:
  explicit StrippedSet(std::optional<std::string_view> of) {
    if (!of) return;
    characters_ = characters(*of);
    std::ranges::sort(*characters_);
    const auto repeated = std::ranges::unique(*characters_);
    characters_->erase(repeated.begin(), repeated.end());
  }
  bool contains(std::string_view character) const {
    if (characters_) return std::ranges::binary_search(*characters_, character);
    return is_space(character_at(character, 0).code);
  }

 private:
  std::optional<std::vector<std::string_view>> characters_;
};

std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && continues(text, at)) --at;
  return at + character_at(text, at).bytes == text.size() ? at : text.size() - 1;
}

}  // namespace

std::string_view strip(std::string_view text, Side side,
                       std::optional<std::string_view> characters) {
  const StrippedSet set(characters);
  while (side != Side::kRight && !text.empty()) {
    const std::size_t bytes = character_at(text, 0).bytes;
    if (!set.contains(text.substr(0, bytes))) break;
    text.remove_prefix(bytes);
  }
  while (side != Side::kLeft && !text.empty()) {
    const std::size_t last = last_character(text);
    if (!set.contains(text.substr(last))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

namespace {

std::vector<std::string_view> split_at_spaces(std::string_view text, std::int64_t limit) {
  std::vector<std::string_view> parts;
  text = strip(text, Side::kLeft);
  while (!text.empty()) {
    if (limit >= 0 && static_cast<std::int64_t>(parts.size()) == limit) {
      parts.push_back(strip(text, Side::kRight));
      break;
    }
    std::size_t end = 0;
    while (end < text.size() && !is_space(character_at(text, end).code)) {
      end += character_at(text, end).bytes;
    }
    parts.push_back(text.substr(0, end));
    text = strip(text.substr(end), Side::kLeft);
  }
  return parts;
}

std::vector<std::string_view> split_at_spaces_from_right(std::string_view text,
                                                         std::int64_t limit) {
  std::vector<std::string_view> parts;
  text = strip(text, Side::kRight);
  while (!text.empty()) {
    if (limit >= 0 && static_cast<std::int64_t>(parts.size()) == limit) {
      parts.push_back(strip(text, Side::kLeft));
      break;
    }
    std::size_t begin = text.size();
    while (begin > 0) {
      const std::size_t last = last_character(text.substr(0, begin));
      if (is_space(character_at(text, last).code)) break;
      begin = last;
    }
    parts.push_back(text.substr(begin));
    text = strip(text.substr(0, begin), Side::kRight);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::string reversed(std::string_view bytes) { return {bytes.rbegin(), bytes.rend()}; }

}  // namespace

std::size_t find(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  // Of glibc, which has a bound where std::string_view has none.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::size_t find_last(std::string_view text, std::string_view part) {
  const std::size_t after = find(reversed(text), reversed(part));
  return after == std::string_view::npos ? after : text.size() - part.size() - after;
}

std::vector<std::string_view> split(std::string_view text,
                                    std::optional<std::string_view> separator, std::int64_t limit) {
  if (!separator) return split_at_spaces(text, limit);
  std::vector<std::string_view> parts;
  while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit) {
    const std::size_t at = find(text, *separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator->size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_from_right(std::string_view text,
                                               std::optional<std::string_view> separator,
                                               std::int64_t limit) {
  if (!separator) return split_at_spaces_from_right(text, limit);
  const std::string backwards = reversed(text);
  std::vector<std::string_view> parts = split(backwards, reversed(*separator), limit);
  std::ranges::reverse(parts);
  for (std::string_view& part : parts) {
    const auto after = static_cast<std::size_t>(part.data() - backwards.data());
    part = text.substr(text.size() - after - part.size(), part.size());
  }
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  const auto ends_line = [](char32_t code) {
    return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
           code == 0x2028 || code == 0x2029;
  };
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const std::size_t end = at;
    at += character.bytes;
    if (!ends_line(character.code)) continue;
    if (character.code == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    std::int64_t limit) {
  std::string result;
  std::size_t at = 0;
  while (limit != 0) {
    const std::size_t found = find(text, from, at);
    if (found == std::string_view::npos) break;
    result.append(text.substr(at, found - at));
    result += to;
    at = found + from.size();
    if (limit > 0) --limit;
    if (!from.empty()) continue;
    // Nothing is found before every character and at the end.
    if (at >= text.size()) return result;
    const std::size_t bytes = character_at(text, at).bytes;
    result.append(text.substr(at, bytes));
    at += bytes;
  }
  result.append(text.substr(at));
  return result;
}

std::int64_t count(std::string_view text, std::string_view part) {
  if (part.empty()) return character_count(text) + 1;
  std::int64_t total = 0;
  for (std::size_t at = find(text, part); at != std::string_view::npos;
       at = find(text, part, at + part.size())) {
    ++total;
  }
  return total;
}

}  // namespace shardlens::trainer::chat
