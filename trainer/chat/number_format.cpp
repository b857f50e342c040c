// The part of format that sets numbers and fills places up.
#include <cctype>
#include <cmath>
#include <cstdio>

#include "trainer/chat/format.h"
#include "trainer/chat/python_text.h"

namespace shardlens::trainer::chat {

tl::unexpected<Error> unformattable(const std::string& what) {
  return fail(ErrorKind::kDamaged, "a text to be formatted " + what);
}

namespace {

std::string in_base(std::uint64_t value, unsigned base, bool capital) {
  const char* digits = capital ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), digits[value % base]);
    value /= base;
  } while (value > 0);
  return text;
}

std::string whole_digits(std::uint64_t size, const FormatSpec& spec) {
  switch (spec.type) {
    case 'x':
    case 'X': {
      const bool capital = spec.type == 'X';
      return (spec.alternate ? (capital ? "0X" : "0x") : "") + in_base(size, 16, capital);
    }
    case 'o':
      return (spec.alternate ? "0o" : "") + in_base(size, 8, false);
    case 'b':
      return (spec.alternate ? "0b" : "") + in_base(size, 2, false);
    default:
      return std::to_string(size);
  }
}

std::string real_digits(double size, const FormatSpec& spec) {
  if (std::isinf(size) || std::isnan(size)) {
    const bool capital = spec.type == 'E' || spec.type == 'F' || spec.type == 'G';
    return std::isinf(size) ? (capital ? "INF" : "inf") : (capital ? "NAN" : "nan");
  }
  if (spec.type == '\0' && spec.precision < 0) return shown(size);
  const char letter = spec.type == '%'                        ? 'f'
                      : spec.type == '\0' || spec.type == 'n' ? 'g'
                                                              : spec.type;
  const std::string pattern = std::string(spec.alternate ? "%#.*" : "%.*") + letter;
  std::string text(static_cast<std::size_t>(kLargestWidth) + 400, '\0');
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  // The pattern is one of ours: a precision and a letter for a double.
  const int length = std::snprintf(text.data(), text.size(), pattern.c_str(), precision,
                                   spec.type == '%' ? size * 100 : size);
  text.resize(static_cast<std::size_t>(length));
  if (spec.type == '%') text += '%';
  if (spec.type == '\0' && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string filling(std::string_view fill, std::int64_t times) {
  std::string text;
  for (; times > 0; --times) text += fill;
  return text;
}

void group(std::string& digits, char separator, std::size_t step) {
  std::size_t whole = 0;
  while (whole < digits.size() && std::isxdigit(static_cast<unsigned char>(digits[whole])) != 0 &&
         (step == 4 || std::isdigit(static_cast<unsigned char>(digits[whole])) != 0)) {
    ++whole;
  }
  for (std::size_t at = whole; at > step;) {
    at -= step;
    digits.insert(at, 1, separator);
  }
}

}  // namespace

Result<std::string> set_number(const Value& value, const FormatSpec& spec) {
  if (!value.is_number())
    return unformattable("needs a number, not a value of type " + value.type_name());
  constexpr std::string_view kWholeTypes = "diuxXob";
  const bool as_whole =
      value.is_whole() && (spec.type == '\0' || kWholeTypes.find(spec.type) != kWholeTypes.npos);
  if (!as_whole && kWholeTypes.find(spec.type) != kWholeTypes.npos) {
    return unformattable("needs an integer for '" + std::string(1, spec.type) + "'");
  }
  const bool negative = as_whole ? value.as_integer() < 0 : std::signbit(value.as_real());
  std::string digits;
  if (as_whole) {
    const auto bits = static_cast<std::uint64_t>(value.as_integer());
    digits = whole_digits(negative ? -bits : bits, spec);
  } else {
    digits = real_digits(std::abs(value.as_real()), spec);
  }
  if (spec.grouping != '\0') {
    const bool by_four =
        spec.type == 'x' || spec.type == 'X' || spec.type == 'o' || spec.type == 'b';
    group(digits, spec.grouping, by_four ? 4 : 3);
  }
  const std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  const bool numeral = std::isdigit(static_cast<unsigned char>(digits[0])) != 0;
  if ((spec.zero || spec.align == '=') && (numeral || spec.align == '=')) {
    const auto length = static_cast<std::int64_t>(sign.size() + digits.size());
    const std::string fill = spec.align == '=' && !spec.zero ? spec.fill : "0";
    digits.insert(0, filling(fill, spec.width - length));
  }
  return sign + digits;
}

Result<std::string> padded(RenderBudget& budget, std::string text, const FormatSpec& spec,
                           char usual_align) {
  if (spec.width > kLargestWidth) return unformattable("has a width beyond 10000");
  TRY(budget.spend(text.size() + static_cast<std::size_t>(spec.width) * spec.fill.size()));
  const std::int64_t missing = spec.width - character_count(text);
  if (missing <= 0) return text;
  const char align = spec.align == '\0' ? usual_align : spec.align;
  const std::int64_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  return filling(spec.fill, before) + text + filling(spec.fill, missing - before);
}

}  // namespace shardlens::trainer::chat
