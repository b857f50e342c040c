#include "trainer/chat/literals.h"

#include <algorithm>
#include <cctype>

#include "trainer/chat/python_text.h"

namespace shardlens::trainer::chat {

namespace {

class Unescaper {
 public:
  explicit Unescaper(std::string_view text) : text_(text) {}

  Result<std::string> run() {
    while (at_ < text_.size()) {
      if (text_[at_] != '\\') {
        result_ += text_[at_++];
        continue;
      }
      ++at_;
      if (at_ == text_.size()) return fail(ErrorKind::kDamaged, "a \\ at the end of a text");
      TRY(read_escape());
    }
    return std::move(result_);
  }

 private:
  Result<void> read_escape() {
    const char c = text_[at_];
    constexpr std::string_view kNames = "\\'\"abfnrtv";
    constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
    if (const std::size_t known = kNames.find(c); known != std::string_view::npos) {
      ++at_;
      result_ += kMeanings[known];
    } else if (c == '\n') {
      ++at_;
    } else if (c >= '0' && c <= '7') {
      read_octal();
    } else if (c == 'x' || c == 'u' || c == 'U') {
      return read_hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N') {
      return fail(ErrorKind::kDamaged, "\\N{…} in a text, which is not supported");
    } else {
      result_ += '\\';  // Python keeps what it does not know
    }
    return {};
  }

  void read_octal() {
    char32_t code = 0;
    for (int digits = 0; digits < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7';
         ++digits) {
      code = code * 8 + static_cast<char32_t>(text_[at_++] - '0');
    }
    append_character(result_, code);
  }

  Result<void> read_hex(std::size_t digits) {
    const std::string hex(text_.substr(at_ + 1, digits));
    const bool all = hex.size() == digits && std::all_of(hex.begin(), hex.end(), [](char c) {
                       return std::isxdigit(static_cast<unsigned char>(c)) != 0;
                     });
    if (!all) return fail(ErrorKind::kDamaged, "a \\" + std::string(1, text_[at_]) + " cut short");
    const auto code = static_cast<char32_t>(std::stoul(hex, nullptr, 16));
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      return fail(ErrorKind::kDamaged, "\\u" + hex + " in a text, which is no character");
    }
    append_character(result_, code);
    at_ += digits + 1;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string result_;
};

// Digits of a base with single underscores between them, from `at` on.
std::size_t digits_end(std::string_view text, std::size_t at, int base) {
  const auto is_digit = [&](std::size_t i) {
    if (i >= text.size()) return false;
    const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    return base == 16 ? std::isxdigit(static_cast<unsigned char>(c)) != 0
                      : c >= '0' && c < '0' + base;
  };
  while (is_digit(at) || (at < text.size() && text[at] == '_' && at > 0 && is_digit(at + 1))) ++at;
  return at;
}

// The end of a fraction or exponent after the digits that end at `whole`; `whole`: there is none.
std::size_t real_end(std::string_view text, std::size_t whole) {
  std::size_t end = whole;
  const auto digit_at = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  if (end < text.size() && text[end] == '.' && digit_at(end + 1)) {
    end = digits_end(text, end + 1, 10);
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const bool sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
    if (digit_at(end + (sign ? 2 : 1))) end = digits_end(text, end + (sign ? 2 : 1), 10);
  }
  return end;
}

}  // namespace

Result<std::string> unescaped(std::string_view text) { return Unescaper(text).run(); }

NumberLiteral number_literal(std::string_view text, bool may_be_real) {
  const char mark = text.size() > 2 ? static_cast<char>(text[1] | 0x20) : '\0';
  int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  if (text[0] != '0' || digits_end(text, 2, base) == 2) base = 10;
  std::size_t end = digits_end(text, base == 10 ? 0 : 2, base);
  if (base == 10) {
    const std::size_t with_fraction = may_be_real ? real_end(text, end) : end;
    if (with_fraction > end) {
      const std::string literal(text.substr(0, with_fraction));
      const auto value = parse_real(literal);
      return {literal, value ? std::optional(Value::real(*value)) : std::nullopt};
    }
    // 0 begins no longer number.
    if (text[0] == '0') {
      end = 1;
      while (end < text.size() && (text[end] == '0' || (text[end] == '_' && end + 1 < text.size() &&
                                                        text[end + 1] == '0'))) {
        ++end;
      }
    }
  }
  const std::string literal(text.substr(0, end));
  const auto value = parse_integer(literal, base);
  return {literal, value ? std::optional(Value::integer(*value)) : std::nullopt};
}

}  // namespace shardlens::trainer::chat
