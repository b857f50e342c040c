// The part of python_text that changes and asks for upper and lower case.
#include <algorithm>

#include "trainer/chat/python_text.h"
#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {

namespace {

char32_t mapped(std::span<const CaseRange> ranges, char32_t code) {
  // Ranges that alternate overlap, so the one that begins last before `code` may not be its own.
  auto range = std::upper_bound(ranges.begin(), ranges.end(), code,
                                [](char32_t left, const CaseRange& r) { return left < r.first; });
  for (int tries = 0; tries < 3 && range != ranges.begin(); ++tries) {
    --range;
    if (code <= range->last && (code - range->first) % static_cast<char32_t>(range->step) == 0) {
      return static_cast<char32_t>(static_cast<std::int32_t>(code) + range->delta);
    }
  }
  return code;
}

const char* special(std::span<const CaseText> texts, char32_t code) {
  const auto found =
      std::lower_bound(texts.begin(), texts.end(), code,
                       [](const CaseText& t, char32_t right) { return t.character < right; });
  return found != texts.end() && found->character == code ? found->text : nullptr;
}

void append_upper(std::string& result, char32_t code) {
  if (const char* text = special(upper_texts(), code)) {
    result += text;
  } else {
    append_character(result, mapped(upper_ranges(), code));
  }
}

void append_title(std::string& result, char32_t code) {
  if (const char* text = special(title_texts(), code)) {
    result += text;
  } else {
    append_upper(result, code);
  }
}

bool is_cased(char32_t code) { return (traits_of(code) & kCased) != 0; }

bool is_case_ignorable(char32_t code) {
  const auto ranges = case_ignorable_ranges();
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code,
                       [](char32_t left, const CharacterRange& r) { return left < r.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

// Whether the capital sigma at `at` ends a word: a cased letter before it and none after, as
// Unicode's Final_Sigma.
bool final_sigma(const std::vector<char32_t>& codes, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(codes[before - 1])) --before;
  if (before == 0 || !is_cased(codes[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < codes.size() && is_case_ignorable(codes[after])) ++after;
  return after == codes.size() || !is_cased(codes[after]);
}

std::vector<char32_t> codes_of(std::string_view text) {
  std::vector<char32_t> codes;
  codes.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    codes.push_back(character.code);
    at += character.bytes;
  }
  return codes;
}

void append_lower(std::string& result, const std::vector<char32_t>& codes, std::size_t at) {
  constexpr char32_t kSigma = 0x3A3;
  constexpr char32_t kDottedI = 0x130;
  if (codes[at] == kSigma) {
    append_character(result, final_sigma(codes, at) ? 0x3C2 : 0x3C3);
  } else if (codes[at] == kDottedI) {
    result += "i\u0307";
  } else {
    append_character(result, mapped(lower_ranges(), codes[at]));
  }
}

}  // namespace

std::string upper(std::string_view text) {
  std::string result;
  for (const char32_t code : codes_of(text)) append_upper(result, code);
  return result;
}

std::string lower(std::string_view text) {
  const std::vector<char32_t> codes = codes_of(text);
  std::string result;
  for (std::size_t at = 0; at < codes.size(); ++at) append_lower(result, codes, at);
  return result;
}

std::string capitalize(std::string_view text) {
  const std::vector<char32_t> codes = codes_of(text);
  std::string result;
  if (codes.empty()) return result;
  append_title(result, codes[0]);
  for (std::size_t at = 1; at < codes.size(); ++at) append_lower(result, codes, at);
  return result;
}

std::string title(std::string_view text) {
  const std::vector<char32_t> codes = codes_of(text);
  std::string result;
  bool in_word = false;
  for (std::size_t at = 0; at < codes.size(); ++at) {
    if (in_word) {
      append_lower(result, codes, at);
    } else {
      append_title(result, codes[at]);
    }
    in_word = is_cased(codes[at]);
  }
  return result;
}

std::string swap_case(std::string_view text) {
  const std::vector<char32_t> codes = codes_of(text);
  std::string result;
  for (std::size_t at = 0; at < codes.size(); ++at) {
    const std::uint32_t traits = traits_of(codes[at]);
    if ((traits & kUppercase) != 0) {
      append_lower(result, codes, at);
    } else if ((traits & kLowercase) != 0) {
      append_upper(result, codes[at]);
    } else {
      append_character(result, codes[at]);
    }
  }
  return result;
}

namespace {

bool all_in_case(std::string_view text, std::uint32_t wanted) {
  bool any = false;
  for (const char32_t code : codes_of(text)) {
    const std::uint32_t traits = traits_of(code);
    if ((traits & wanted) != 0) any = true;
    if ((traits & kCased & ~wanted) != 0) return false;
  }
  return any;
}

}  // namespace

bool is_lower(std::string_view text) { return all_in_case(text, kLowercase); }
bool is_upper(std::string_view text) { return all_in_case(text, kUppercase); }

bool is_title(std::string_view text) {
  bool any = false;
  bool in_word = false;
  for (const char32_t code : codes_of(text)) {
    const std::uint32_t traits = traits_of(code);
    const bool begins = (traits & (kUppercase | kTitlecase)) != 0;
    if (begins ? in_word : ((traits & kLowercase) != 0 && !in_word)) return false;
    in_word = is_cased(code);
    any = any || in_word;
  }
  return any;
}

}  // namespace shardlens::trainer::chat
