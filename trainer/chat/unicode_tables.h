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

// Runs, ascending: first code point << 8 | CharacterTraits of all up to the next run.
std::span<const std::uint32_t> character_traits();
std::span<const CaseRange> upper_ranges();
std::span<const CaseRange> lower_ranges();
std::span<const CaseText> upper_texts();
std::span<const CaseText> title_texts();

}  // namespace shardlens::trainer::chat
