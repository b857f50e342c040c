// What Python's text methods know of characters: tables, read by python_text. Any thread.
#pragma once

#include <cstdint>
#include <span>

namespace shardlens::trainer::chat {

// Bits, as str.isprintable() and so on of the character alone.
enum CharacterTraits : std::uint32_t {
  kPrintable = 1,
  kAlphabetic = 2,
  kDecimal = 4,
  kDigit = 8,
  kNumeric = 16,
  kLowercase = 32,
  kUppercase = 64,
  kTitlecase = 128,

  kAlphanumeric = kAlphabetic | kDecimal | kDigit | kNumeric,
  kCased = kLowercase | kUppercase | kTitlecase,
};

// Every `step`th character from first to last becomes itself + delta.
struct CaseRange {
  char32_t first, last;
  std::int32_t step, delta;
};

// What one character becomes, UTF-8.
struct CaseText {
  char32_t character;
  const char* text;
};

// Characters from first to last.
struct CharacterRange {
  char32_t first, last;
};

// All are ascending.

// Runs: first code point << 16 | CharacterTraits of every second one after it << 8 | those of
// itself and the others, up to the next run. Letters alternate between upper and lower case.
std::span<const std::uint64_t> trait_runs();
std::span<const CaseRange> upper_ranges();
std::span<const CaseRange> lower_ranges();
// Characters that become several.
std::span<const CaseText> upper_texts();
// Where it is not the upper case.
std::span<const CaseText> title_texts();
// Unicode's Case_Ignorable: marks and signs that are part of the word they stand in.
std::span<const CharacterRange> case_ignorable_ranges();

}  // namespace shardlens::trainer::chat
