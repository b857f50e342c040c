// What Python's str does, on UTF-8. Positions and lengths are characters (code points), as in
// Python, unless they are called bytes. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::trainer::chat {

struct Character {
  char32_t code;
  std::size_t bytes;
};

// The character at a byte of `text`. A byte that begins no valid one is a character of its own.
Character character_at(std::string_view text, std::size_t byte);
void append_character(std::string& text, char32_t code);
bool valid_utf8(std::string_view text);

std::int64_t character_count(std::string_view text);
// The byte at which the character begins; text.size() where there are fewer.
std::size_t byte_of_character(std::string_view text, std::int64_t position);
std::vector<std::string_view> characters(std::string_view text);

// Of CharacterTraits.
std::uint32_t traits_of(char32_t code);
// As str.isspace() and the \s of regular expressions.
bool is_space(char32_t code);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalize(std::string_view text);
std::string title(std::string_view text);
std::string swap_case(std::string_view text);
bool is_lower(std::string_view text);
bool is_upper(std::string_view text);
bool is_title(std::string_view text);
// Whether it is not empty and every character has one of the traits.
bool all_have(std::string_view text, std::uint32_t traits);
bool all_spaces(std::string_view text);

enum class Side { kLeft, kRight, kBoth };
// Without `characters`: spaces are stripped.
std::string_view strip(std::string_view text, Side side,
                       std::optional<std::string_view> characters = {});
// The byte at which `part` begins first from `from` on, and last; npos: nowhere. Unlike those of
// std::string_view in time proportional to both, whatever they are.
std::size_t find(std::string_view text, std::string_view part, std::size_t from = 0);
std::size_t find_last(std::string_view text, std::string_view part);
// At spaces, or at each `separator` (not empty). At most `limit` splits; negative: all.
std::vector<std::string_view> split(std::string_view text,
                                    std::optional<std::string_view> separator, std::int64_t limit);
std::vector<std::string_view> split_from_right(std::string_view text,
                                               std::optional<std::string_view> separator,
                                               std::int64_t limit);
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);
// At most `limit` replacements; negative: all.
std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    std::int64_t limit);
// How often it occurs without overlap.
std::int64_t count(std::string_view text, std::string_view part);

// Python's repr() and int() of text, and the shortest repr() of a float.
std::string quoted(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text, int base);
std::optional<double> parse_real(std::string_view text);
std::string shown(double value);
// For HTML, as markupsafe.escape().
std::string escaped(std::string_view text);

}  // namespace shardlens::trainer::chat
