#include "bench/fuzz/mutation.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>

namespace shardlens::bench {

namespace {

constexpr std::size_t kMostChanges = 5;
constexpr std::size_t kMostNesting = 100'000;
// Inputs stay of the order of what is damaged.
constexpr std::size_t kMostGrowth = 1 << 16;

constexpr std::array<std::string_view, 27> kNumbers{"0",
                                                    "-0",
                                                    "-1",
                                                    "1",
                                                    "0.5",
                                                    "1e18",
                                                    "1e-320",
                                                    "1e308",
                                                    "-1e308",
                                                    "1e999",
                                                    "NaN",
                                                    "Infinity",
                                                    "2147483647",
                                                    "2147483648",
                                                    "-2147483649",
                                                    "4294967296",
                                                    "9007199254740993",
                                                    "9223372036854775807",
                                                    "-9223372036854775808",
                                                    "9223372036854775808",
                                                    "18446744073709551615",
                                                    "18446744073709551616",
                                                    "340282366920938463463374607431768211456",
                                                    "1700000000000000",
                                                    "300000000",
                                                    "07",
                                                    "1.7976931348623157e309"};

constexpr std::array<std::string_view, 16> kTexts{"",
                                                  " ",
                                                  "\n",
                                                  "\x1b[2J\x1b]0;title\x07",
                                                  "\xe2\x80\xae"
                                                  "txt.exe",
                                                  "\xff\xfe\x80",
                                                  "\xed\xa0\x80",
                                                  "../../etc/passwd",
                                                  "/",
                                                  ".",
                                                  "..",
                                                  "name'; drop table step; --",
                                                  "%s%n%d",
                                                  "null",
                                                  "\xf0\x9f\x9a\x80",
                                                  "a\tb\rc\\\""};

constexpr std::array<std::string_view, 12> kJsonValues{
    "null",       "true",        "[]",    "{}", "\"\"", "[[]]",
    "{\"a\":{}}", "\"\\ud800\"", "\"1\"", "-",  "[1",   "\"\\u0000\""};

constexpr std::array<std::string_view, 14> kYamlLines{
    "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]",
    "? [complex, key]\n: value",
    "- list",
    "--- ",
    "...",
    "\t: tab",
    "<<: *missing",
    "!!python/object:os.system {}",
    "key: |\n  block\n text",
    "key: >-\n",
    ": ",
    "{",
    "key: 'open",
    "%YAML 9.9"};

bool is_part_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

// Behind the value that begins at `begin`: a bracket with all it holds, a text, or a word.
std::size_t end_of_json_value(const std::string& text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      if (depth == 0) return std::min(i + 1, text.size());
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth <= 0) return depth < 0 ? i : i + 1;
    } else if (depth == 0 && (c == ',' || c == ':' || c == '\n')) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

// Of the choices it takes as many bytes as a number below the limit needs.
std::uint64_t Mutation::next(std::uint64_t limit) {
  if (choices_.empty()) return random_.next();
  std::uint64_t number = 0;
  for (std::uint64_t rest = limit - 1; rest > 0 && !choices_.empty(); rest >>= 8) {
    number = number << 8 | static_cast<unsigned char>(choices_.front());
    choices_.remove_prefix(1);
  }
  return number;
}

std::size_t Mutation::below(std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(next(limit) % limit);
}

std::int64_t Mutation::integer() {
  constexpr std::array<std::int64_t, 16> kEnds{0,
                                               1,
                                               -1,
                                               2,
                                               255,
                                               1 << 16,
                                               std::numeric_limits<std::int32_t>::max(),
                                               std::numeric_limits<std::int32_t>::min(),
                                               std::int64_t{1} << 32,
                                               std::int64_t{1} << 40,
                                               std::int64_t{1} << 53,
                                               1'700'000'000'000'000'000,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::max() - 1,
                                               std::numeric_limits<std::int64_t>::min(),
                                               std::numeric_limits<std::int64_t>::min() + 1};
  if (one_in(4)) return static_cast<std::int64_t>(next(0) >> below(64));
  return pick(kEnds);
}

std::string Mutation::number() {
  return one_in(3) ? std::to_string(integer()) : std::string(pick(kNumbers));
}

std::string Mutation::text() {
  if (one_in(4)) {
    const std::size_t length = 1 + below(kMostGrowth);
    const char of = "a\xe2 9"[below(4)];
    return std::string(length, of);
  }
  return std::string(pick(kTexts));
}

std::string Mutation::changed(std::string from, std::string (Mutation::*change)(std::string)) {
  for (std::size_t i = below(kMostChanges) + 1; i > 0; --i) from = (this->*change)(std::move(from));
  return from;
}

std::string Mutation::change_bytes(std::string from) {
  if (from.empty()) return text();
  const std::size_t at = below(from.size());
  const std::size_t length = std::min(from.size() - at, std::size_t{1} << below(10));
  switch (below(7)) {
    case 0:
      from[at] = static_cast<char>(from[at] ^ 1 << below(8));
      return from;
    case 1:
      from[at] = static_cast<char>(below(256));
      return from;
    case 2:
      return from.erase(at, length);
    case 3:
      return from.insert(at, from.substr(below(from.size()), length));
    case 4:
      return from.substr(0, at);
    case 5:
      for (std::size_t i = at; i < at + length; ++i) from[i] = static_cast<char>(below(256));
      return from;
    default:
      return from.replace(at, std::min<std::size_t>(length, 8), 8, one_in(2) ? '\0' : '\xff');
  }
}

std::string Mutation::nested(char open, char close) {
  const std::size_t depth = std::size_t{1} << below(18);
  std::string text(std::min(depth, kMostNesting), open);
  if (open == '{') {
    std::string keys;
    for (std::size_t i = 0; i < text.size() && i < kMostGrowth / 4; ++i) keys += "{\"a\":";
    text = keys + "1" + std::string(keys.size() / 5, '}');
  } else if (one_in(2)) {
    text += std::string(text.size(), close);
  }
  return text;
}

Mutation::Part Mutation::value_of_json(const std::string& text) {
  // From a random place on to where a value begins.
  std::size_t begin = text.find_first_of("{[\":,", below(text.size()));
  if (begin == std::string::npos) return {below(text.size()), text.size()};
  if (text[begin] == ':' || text[begin] == ',') ++begin;
  return {begin, end_of_json_value(text, begin)};
}

std::string Mutation::change_json(std::string from) {
  if (from.empty()) return std::string(pick(kJsonValues));
  const auto put = [&](Part part, const std::string& value) {
    return from.replace(part.begin, part.end - part.begin, value);
  };
  const Part value = value_of_json(from);
  switch (below(9)) {
    case 0:
      return change_bytes(std::move(from));
    case 1: {
      const std::size_t digit = from.find_first_of("0123456789", below(from.size()));
      if (digit == std::string::npos) return from;
      std::size_t end = digit;
      while (end < from.size() && is_part_of_number(from[end])) ++end;
      return put({digit, end}, number());
    }
    case 2:
      return put(value, std::string(pick(kJsonValues)));
    case 3:
      return put(value, "\"" + text() + "\"");
    case 4:
      return put(value, one_in(2) ? nested('[', ']') : nested('{', '}'));
    case 5: {
      // Another one in its place: other types, and keys that occur twice.
      const Part other = value_of_json(from);
      return put(value, from.substr(other.begin, std::min(other.end - other.begin, kMostGrowth)));
    }
    case 6: {
      const std::string copy =
          from.substr(value.begin, std::min(value.end - value.begin, kMostGrowth));
      return from.insert(value.end, (one_in(2) ? "," : ":") + copy);
    }
    case 7:
      return put(value, number());
    default:
      return put(value, "");
  }
}

std::string Mutation::change_yaml(std::string from) {
  if (from.empty()) return std::string(pick(kYamlLines));
  const std::size_t line = from.rfind('\n', below(from.size()));
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  const std::size_t end = std::min(from.find('\n', begin), from.size());
  const std::size_t colon = std::min(from.find(": ", begin), end);
  switch (below(7)) {
    case 0:
      return change_bytes(std::move(from));
    case 1:
      return from.replace(colon, end - colon, ": " + number());
    case 2:
      return from.replace(colon, end - colon, ": \"" + text() + "\"");
    case 3:
      return from.insert(begin, std::string(pick(kYamlLines)) + "\n");
    case 4:
      return from.insert(begin, from.substr(begin, end - begin) + "\n");
    case 5:
      return from.replace(colon, end - colon, ": " + nested('[', ']'));
    default: {
      const std::size_t length = 1 + below(6);
      const char of = one_in(4) ? '\t' : ' ';
      return from.insert(begin, length, of);
    }
  }
}

void Mutation::replace_file(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::remove_all(file, ignored);
  switch (below(4)) {
    case 0:
      std::filesystem::create_directory(file, ignored);
      return;
    case 1:
      static_cast<void>(mkfifo(file.c_str(), 0600));
      return;
    case 2:
      std::filesystem::create_symlink(file, file, ignored);
      return;
    default:
      return;
  }
}

}  // namespace shardlens::bench
