// text.format(…)
#include <algorithm>
#include <cctype>
#include <optional>

#include "trainer/chat/format.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_text.h"

namespace shardlens::trainer::chat {

namespace {

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
  if (!text.empty() || too_wide) return unformattable("has a format that is not supported");
  return spec;
}

// {…} places of one text.
class BraceFormat {
 public:
  BraceFormat(Interpreter& interpreter, const Arguments& arguments)
      : interpreter_(interpreter), arguments_(arguments) {}

  Result<std::string> run(std::string_view format, int depth = 0) {
    std::string result;
    for (std::size_t at = 0; at < format.size();) {
      const char c = format[at];
      const bool doubled = at + 1 < format.size() && format[at + 1] == c;
      if ((c == '{' || c == '}') && doubled) {
        result += c;
        at += 2;
      } else if (c == '}') {
        return unformattable("has a '}' without '{'");
      } else if (c == '{') {
        if (depth > 1) return unformattable("has places within places within places");
        const std::size_t end = closing(format, at);
        if (end == std::string_view::npos) return unformattable("has a '{' without '}'");
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
      if (conversion != 's' && conversion != 'r')
        return unformattable("has an unknown '!' conversion");
      TRY_ASSIGN(std::string text, conversion == 's'
                                       ? shown(interpreter_.budget(), value)
                                       : representation(interpreter_.budget(), value));
      value = Value::text(std::move(text));
      field.remove_prefix(2);
    }
    if (!field.empty() && field[0] != ':')
      return unformattable("has something after a '!' conversion");
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
        return unformattable("has a format of numbers for a text");
      }
      std::string text = value.as_text();
      if (spec.precision >= 0) text.resize(byte_of_character(text, spec.precision));
      FormatSpec how = spec;
      if (spec.zero) how.fill = "0";
      return padded(interpreter_.budget(), std::move(text), how, '<');
    }
    if (!value.is_number() || spec.type == 's') {
      return unformattable("has a format that a value of type " + value.type_name() +
                           " does not know");
    }
    if (value.is_whole() && spec.precision >= 0 && (spec.type == '\0' || spec.type == 'd')) {
      return unformattable("has digits for an integer");
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
      if (stop == std::string_view::npos || stop == 1)
        return unformattable("has an incomplete place");
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
    const bool numbered = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0;
    if (name.empty() || numbered) {
      if (counted_ && *counted_ != name.empty())
        return unformattable("has numbers for some places only");
      counted_ = name.empty();
      const auto index = name.empty() ? std::optional(next_++) : parse_integer(name, 10);
      const auto size = static_cast<std::int64_t>(arguments_.positional.size());
      if (!index || *index >= size) return unformattable("has more places than values");
      return arguments_.positional[static_cast<std::size_t>(*index)];
    }
    for (const auto& [own, value] : arguments_.named) {
      if (own == name) return value;
    }
    return unformattable("has a place for '" + std::string(name) + "', which is missing");
  }

  Interpreter& interpreter_;
  const Arguments& arguments_;
  std::int64_t next_ = 0;
  std::optional<bool> counted_;
};

}  // namespace

Result<Value> formatted_braces(Interpreter& interpreter, const Value& format,
                               const Arguments& arguments) {
  if (format.is_safe()) return unformattable("is marked as safe, which is not supported");
  TRY_ASSIGN(std::string text, BraceFormat(interpreter, arguments).run(format.as_text()));
  return Value::text(std::move(text));
}

}  // namespace shardlens::trainer::chat
