// The part of python_text that reads numbers from text, shows them, and quotes text.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "trainer/chat/python_text.h"
#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {

namespace {

void append_hex(std::string& result, char32_t code) {
  constexpr char kDigits[] = "0123456789abcdef";
  const int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
  result += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
    result += kDigits[(code >> shift) & 15];
}

// Without the underscores, which stand between two digits (or letters of a base) each; nothing
// where one does not.
std::optional<std::string> without_underscores(std::string_view text) {
  const auto alphanumeric = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '_') {
      plain += text[at];
    } else if (at == 0 || !alphanumeric(at - 1) || !alphanumeric(at + 1)) {
      return std::nullopt;
    }
  }
  return plain;
}

// ASCII digits for those of other scripts, spaces around it and underscores between digits removed;
// nothing where Python would not take it for a number.
std::optional<std::string> plain_number(std::string_view text) {
  std::string plain;
  text = strip(text, Side::kBoth);
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    at += character.bytes;
    if (character.code < 0x80) {
      plain += static_cast<char>(character.code);
    } else if ((traits_of(character.code) & kDecimal) != 0) {
      // Decimal digits of a script are ten in a row that begin at their zero, some sets side by
      // side.
      char32_t zero = character.code;
      while ((traits_of(zero - 1) & kDecimal) != 0) --zero;
      plain += static_cast<char>('0' + (character.code - zero) % 10);
    } else {
      return std::nullopt;
    }
  }
  return without_underscores(plain);
}

}  // namespace

std::string quoted(std::string_view text) {
  const bool double_quotes =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string result(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const char32_t code = character.code;
    if (code == '\\' || code == static_cast<char32_t>(quote)) {
      result += '\\';
      result += static_cast<char>(code);
    } else if (code == '\n' || code == '\r' || code == '\t') {
      result += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    } else if ((traits_of(code) & kPrintable) != 0) {
      result.append(text.substr(at, character.bytes));
    } else {
      append_hex(result, code);
    }
    at += character.bytes;
  }
  return result + quote;
}

std::optional<std::int64_t> parse_integer(std::string_view text, int base) {
  std::optional<std::string> plain = plain_number(text);
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  for (const auto& [mark, of_base] : {std::pair{'x', 16}, {'o', 8}, {'b', 2}}) {
    const bool marked = digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == mark;
    if (!marked || (base != of_base && base != 0)) continue;
    digits.remove_prefix(2);
    base = of_base;
    break;
  }
  if (base == 0) base = 10;
  const std::string signed_digits = (negative ? "-" : "") + std::string(digits);
  if (digits.empty() || digits[0] == '-') return std::nullopt;
  std::int64_t value = 0;
  const char* end = signed_digits.data() + signed_digits.size();
  const auto [stop, error] = std::from_chars(signed_digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  std::optional<std::string> plain = plain_number(text);
  if (!plain || plain->empty()) return std::nullopt;
  std::string_view digits = *plain;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.starts_with('+') || (digits.starts_with('-') && digits.size() == 1)) {
    return std::nullopt;
  }
  if (digits.find('(') != std::string_view::npos) return std::nullopt;  // nan(…) of C
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc::result_out_of_range) return value;
  // from_chars leaves the value alone; Python gives infinity or zero.
  const bool tiny =
      digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
  const double far = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return digits[0] == '-' ? -far : far;
}

std::string shown(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const double size = std::abs(value);
  // repr() of Python: an exponent below 1e-4 and from 1e16 on.
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  std::string text(buffer, end);
  if (!exponent && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&#34;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace shardlens::trainer::chat
