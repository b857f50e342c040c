#include "trainer/chat/format.h"

#include <cctype>
#include <cmath>
#include <cstdio>

#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_order.h"
#include "trainer/chat/value_text.h"

namespace shardlens::trainer::chat {

namespace {

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorKind::kDamaged, "a text to be formatted " + what);
}

// Widths and precisions that no chat needs are refused before they cost memory.
constexpr std::int64_t kLargestWidth = 10'000;

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
  const char letter = spec.type == '%' ? 'f' : spec.type == '\0' || spec.type == 'n' ? 'g' : spec.type;
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
  if (!value.is_number()) return wrong("needs a number, not a value of type " + value.type_name());
  constexpr std::string_view kWholeTypes = "diuxXob";
  const bool as_whole =
      value.is_whole() && (spec.type == '\0' || kWholeTypes.find(spec.type) != kWholeTypes.npos);
  if (!as_whole && kWholeTypes.find(spec.type) != kWholeTypes.npos) {
    return wrong("needs an integer for '" + std::string(1, spec.type) + "'");
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
    const bool by_four = spec.type == 'x' || spec.type == 'X' || spec.type == 'o' || spec.type == 'b';
    group(digits, spec.grouping, by_four ? 4 : 3);
  }
  const std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  const bool numeral = std::isdigit(static_cast<unsigned char>(digits[0])) != 0;
  if ((spec.zero || spec.align == '=') && (numeral || spec.align == '=')) {
    const auto length = static_cast<std::int64_t>(sign.size() + digits.size());
    const std::string fill = spec.align == '=' && !spec.zero ? spec.fill : "0";
    for (std::int64_t i = length; i < spec.width; ++i) digits.insert(0, fill);
  }
  return sign + digits;
}

Result<std::string> padded(RenderBudget& budget, std::string text, const FormatSpec& spec,
                           char usual_align) {
  if (spec.width > kLargestWidth) return wrong("has a width beyond 10000");
  TRY(budget.spend(text.size() + static_cast<std::size_t>(spec.width) * spec.fill.size()));
  const std::int64_t missing = spec.width - character_count(text);
  if (missing <= 0) return text;
  const char align = spec.align == '\0' ? usual_align : spec.align;
  const std::int64_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  std::string result;
  for (std::int64_t i = 0; i < before; ++i) result += spec.fill;
  result += text;
  for (std::int64_t i = before; i < missing; ++i) result += spec.fill;
  return result;
}

namespace {

// `%` conversions of one text.
class PercentFormat {
 public:
  PercentFormat(RenderBudget& budget, std::string_view format, const Value& values)
      : budget_(budget), rest_(format), values_(values) {}

  Result<std::string> run() {
    std::string result;
    while (!rest_.empty()) {
      const std::size_t at = std::min(rest_.find('%'), rest_.size());
      result += rest_.substr(0, at);
      rest_.remove_prefix(at);
      if (rest_.empty()) break;
      rest_.remove_prefix(1);
      TRY_ASSIGN(const std::string piece, conversion());
      result += piece;
      TRY(budget_.spend(piece.size()));
    }
    const bool several = values_.kind() == Kind::kTuple;
    // Only a single value that is a mapping or has items may stay unused.
    const bool unused = several ? used_ < values_.items().size() : used_ == 0 && !spare();
    if (unused) return wrong("has fewer places than values");
    return result;
  }

 private:
  bool spare() const {
    return values_.is_dict() || values_.kind() == Kind::kList ||
           values_.is_undefined() || (values_.kind() == Kind::kObject);
  }

  Result<Value> next_value() {
    if (values_.kind() != Kind::kTuple) {
      if (used_++ > 0) return wrong("has more places than values");
      return values_;
    }
    if (used_ >= values_.items().size()) return wrong("has more places than values");
    return values_.items()[used_++];
  }

  Result<std::int64_t> number() {
    if (rest_.starts_with('*')) return wrong("has a '*', which is not supported");
    std::int64_t value = 0;
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0])) != 0) {
      value = std::min(value * 10 + (rest_[0] - '0'), kLargestWidth + 1);
      rest_.remove_prefix(1);
    }
    if (value > kLargestWidth) return wrong("has a width beyond 10000");
    return value;
  }

  Result<FormatSpec> spec() {
    FormatSpec spec;
    for (; !rest_.empty() && std::string_view("-+ #0").find(rest_[0]) != std::string_view::npos;
         rest_.remove_prefix(1)) {
      if (rest_[0] == '-') spec.align = '<';
      if (rest_[0] == '+' || (rest_[0] == ' ' && spec.sign == '-')) spec.sign = rest_[0];
      if (rest_[0] == '#') spec.alternate = true;
      if (rest_[0] == '0') spec.zero = true;
    }
    TRY_ASSIGN(spec.width, number());
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      TRY_ASSIGN(spec.precision, number());
    }
    if (spec.align == '<') spec.zero = false;
    if (!rest_.empty() && std::string_view("hlL").find(rest_[0]) != std::string_view::npos) {
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return wrong("ends within a place");
    spec.type = rest_[0];
    rest_.remove_prefix(1);
    return spec;
  }

  Result<std::string> conversion() {
    std::optional<Value> named;
    if (rest_.starts_with('(')) {
      const std::size_t end = rest_.find(')');
      if (end == std::string_view::npos) return wrong("has a '(' without ')'");
      if (!values_.is_dict()) return wrong("needs a dict for a place with a name");
      const Value* value = values_.find(rest_.substr(1, end - 1));
      if (value == nullptr) return wrong("has a place for '" + std::string(rest_.substr(1, end - 1)) + "', which is missing");
      named = *value;
      rest_.remove_prefix(end + 1);
    }
    TRY_ASSIGN(FormatSpec how, spec());
    if (how.type == '%') return "%";
    Value value;
    if (named) {
      value = *named;
      used_ = 1;
    } else {
      TRY_ASSIGN(value, next_value());
    }
    return set(std::move(value), how);
  }

  Result<std::string> set(Value value, FormatSpec how) {
    if (how.type == 's' || how.type == 'r') {
      TRY_ASSIGN(std::string text, how.type == 's' ? shown(budget_, value)
                                                   : representation(budget_, value));
      if (how.precision >= 0) text.resize(byte_of_character(text, how.precision));
      return padded(budget_, std::move(text), how, '>');
    }
    if (std::string_view("diuxXoeEfFgG").find(how.type) == std::string_view::npos) {
      return wrong("has a place of the kind '" + std::string(1, how.type) +
                   "', which is not supported");
    }
    const bool decimal = how.type == 'd' || how.type == 'i' || how.type == 'u';
    if (decimal && value.kind() == Kind::kReal) {
      if (!(std::abs(value.as_real()) < 9e18)) return wrong("has no integer for a place of one");
      value = Value::integer(static_cast<std::int64_t>(value.as_real()));
    }
    if (decimal) how.type = 'd';
    TRY_ASSIGN(std::string text, set_number(value, how));
    if (decimal && how.precision > 0) return wrong("has digits for an integer, which is not supported");
    return padded(budget_, std::move(text), how, '>');
  }

  RenderBudget& budget_;
  std::string_view rest_;
  const Value& values_;
  std::size_t used_ = 0;
};

// [[fill]align][sign][#][0][width][grouping][.precision][type]
Result<FormatSpec> parse_spec(std::string_view text) {
  FormatSpec spec;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '=' || c == '^'; };
  if (!text.empty()) {
    const std::size_t first = character_at(text, 0).bytes;
    if (text.size() > first && is_align(text[first])) {
      spec.fill = text.substr(0, first);
      spec.align = text[first];
      text.remove_prefix(first + 1);
    } else if (is_align(text[0])) {
      spec.align = text[0];
      text.remove_prefix(1);
    }
  }
  const auto skip = [&](std::string_view any) {
    if (text.empty() || any.find(text[0]) == std::string_view::npos) return '\0';
    const char c = text[0];
    text.remove_prefix(1);
    return c;
  };
  const auto number = [&] {
    std::int64_t value = 0;
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
      value = std::min(value * 10 + (text[0] - '0'), kLargestWidth + 1);
      text.remove_prefix(1);
    }
    return value;
  };
  if (const char sign = skip("+- ")) spec.sign = sign;
  spec.alternate = skip("#") != '\0';
  spec.zero = skip("0") != '\0' && spec.align == '\0';
  spec.width = number();
  spec.grouping = skip(",_");
  if (skip(".") != '\0') spec.precision = number();
  spec.type = skip("bdeEfFgGnosxX%");
  const bool too_wide = spec.width > kLargestWidth || spec.precision > kLargestWidth;
  if (!text.empty() || too_wide) return wrong("has a format that is not supported");
  return spec;
}

// {…} places of one text.
class BraceFormat {
 public:
  BraceFormat(Interpreter& interpreter, const Arguments& arguments)
      : interpreter_(interpreter), arguments_(arguments) {}

  Result<std::string> run(std::string_view format, int depth = 0) {
    if (depth > 1) return wrong("has places within places within places");
    std::string result;
    for (std::size_t at = 0; at < format.size();) {
      const char c = format[at];
      const bool doubled = at + 1 < format.size() && format[at + 1] == c;
      if ((c == '{' || c == '}') && doubled) {
        result += c;
        at += 2;
      } else if (c == '}') {
        return wrong("has a '}' without '{'");
      } else if (c == '{') {
        const std::size_t end = closing(format, at);
        if (end == std::string_view::npos) return wrong("has a '{' without '}'");
        TRY_ASSIGN(const std::string piece, field(format.substr(at + 1, end - at - 1), depth));
        result += piece;
        at = end + 1;
      } else {
        result += c;
        ++at;
      }
      TRY(interpreter_.budget().spend(1));
    }
    return result;
  }

 private:
  static std::size_t closing(std::string_view format, std::size_t at) {
    for (int open = 0; at < format.size(); ++at) {
      if (format[at] == '{') ++open;
      if (format[at] == '}' && --open == 0) return at;
    }
    return std::string_view::npos;
  }

  Result<std::string> field(std::string_view field, int depth) {
    const std::size_t name_end = std::min(field.find_first_of("!:"), field.size());
    TRY_ASSIGN(Value value, looked_up(field.substr(0, name_end)));
    field.remove_prefix(name_end);
    if (field.starts_with('!')) {
      const char conversion = field.size() > 1 ? field[1] : '\0';
      if (conversion != 's' && conversion != 'r') return wrong("has an unknown '!' conversion");
      TRY_ASSIGN(std::string text, conversion == 's'
                                       ? shown(interpreter_.budget(), value)
                                       : representation(interpreter_.budget(), value));
      value = Value::text(std::move(text));
      field.remove_prefix(2);
    }
    if (!field.empty() && field[0] != ':') return wrong("has something after a '!' conversion");
    if (!field.empty()) field.remove_prefix(1);
    TRY_ASSIGN(const std::string how, run(field, depth + 1));
    if (how.empty()) return shown(interpreter_.budget(), value);
    TRY_ASSIGN(FormatSpec spec, parse_spec(how));
    return set(value, spec);
  }

  Result<std::string> set(const Value& value, const FormatSpec& spec) {
    const bool as_text = value.is_text() && (spec.type == 's' || spec.type == '\0');
    if (as_text) {
      if (spec.align == '=' || spec.grouping != '\0' || spec.sign != '-' || spec.alternate) {
        return wrong("has a format of numbers for a text");
      }
      std::string text = value.as_text();
      if (spec.precision >= 0) text.resize(byte_of_character(text, spec.precision));
      FormatSpec how = spec;
      if (spec.zero) how.fill = "0";
      return padded(interpreter_.budget(), std::move(text), how, '<');
    }
    if (!value.is_number() || spec.type == 's') {
      return wrong("has a format that a value of type " + value.type_name() + " does not know");
    }
    if (value.is_whole() && spec.precision >= 0 && (spec.type == '\0' || spec.type == 'd')) {
      return wrong("has digits for an integer");
    }
    TRY_ASSIGN(std::string text, set_number(value, spec));
    return padded(interpreter_.budget(), std::move(text), spec, '>');
  }

  Result<Value> looked_up(std::string_view path) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    TRY_ASSIGN(Value value, argument(path.substr(0, end)));
    path.remove_prefix(end);
    while (!path.empty()) {
      const bool item = path[0] == '[';
      const std::size_t stop =
          item ? path.find(']') : std::min(path.find_first_of(".[", 1), path.size());
      if (stop == std::string_view::npos || stop == 1) return wrong("has an incomplete place");
      const std::string name(path.substr(1, stop - 1));
      path.remove_prefix(item ? stop + 1 : stop);
      if (item) {
        const auto index = parse_integer(name, 10);
        const bool digits = index && std::isdigit(static_cast<unsigned char>(name[0])) != 0;
        TRY_ASSIGN(value, item_of(interpreter_, value,
                                  digits ? Value::integer(*index) : Value::text(name)));
      } else {
        TRY_ASSIGN(value, attribute_of(interpreter_, value, name));
      }
    }
    return value;
  }

  Result<Value> argument(std::string_view name) {
    const bool numbered =
        !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0;
    if (name.empty() || numbered) {
      if (counted_ && *counted_ != name.empty()) return wrong("has numbers for some places only");
      counted_ = name.empty();
      const auto index =
          name.empty() ? std::optional(next_++) : parse_integer(name, 10);
      const auto size = static_cast<std::int64_t>(arguments_.positional.size());
      if (!index || *index >= size) return wrong("has more places than values");
      return arguments_.positional[static_cast<std::size_t>(*index)];
    }
    for (const auto& [own, value] : arguments_.named) {
      if (own == name) return value;
    }
    return wrong("has a place for '" + std::string(name) + "', which is missing");
  }

  Interpreter& interpreter_;
  const Arguments& arguments_;
  std::int64_t next_ = 0;
  std::optional<bool> counted_;
};

}  // namespace

Result<Value> formatted_percent(RenderBudget& budget, const Value& format, const Value& values) {
  if (format.is_safe()) return wrong("is marked as safe, which is not supported");
  TRY(budget.spend(format.as_text().size()));
  TRY_ASSIGN(std::string text, PercentFormat(budget, format.as_text(), values).run());
  return Value::text(std::move(text));
}

Result<Value> formatted_braces(Interpreter& interpreter, const Value& format,
                               const Arguments& arguments) {
  if (format.is_safe()) return wrong("is marked as safe, which is not supported");
  TRY_ASSIGN(std::string text, BraceFormat(interpreter, arguments).run(format.as_text()));
  return Value::text(std::move(text));
}

}  // namespace shardlens::trainer::chat
