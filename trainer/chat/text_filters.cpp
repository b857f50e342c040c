#include <algorithm>
#include <cctype>

#include "trainer/chat/builtins.h"
#include "trainer/chat/format.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/methods.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/unicode_tables.h"
#include "trainer/chat/value_order.h"
#include "trainer/chat/value_text.h"

namespace shardlens::trainer::chat {

namespace {

// As markupsafe.soft_str(): a text as it is, anything else as it would be shown.
Result<Value> soft_text(Interpreter& interpreter, const Value& value) {
  if (value.is_text()) return value;
  TRY_ASSIGN(std::string text, interpreter.shown(value));
  return Value::text(std::move(text));
}

template <std::string (*kChange)(std::string_view)>
Result<Value> change_case(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY_ASSIGN(const Value text, soft_text(interpreter, input));
  TRY(interpreter.budget().spend(text.as_text().size() * 4));
  return interpreter.budget().text(kChange(text.as_text()), text.is_safe());
}

// Jinja's own idea of words: the text is cut at spaces and - ( { [ <.
std::string title_of_words(std::string_view text) {
  std::string result;
  const auto separates = [](char32_t code) {
    return is_space(code) || code == '-' || code == '(' || code == '{' || code == '[' ||
           code == '<';
  };
  for (std::size_t at = 0; at < text.size();) {
    const bool separator = separates(character_at(text, at).code);
    std::size_t end = at;
    while (end < text.size() && separates(character_at(text, end).code) == separator) {
      end += character_at(text, end).bytes;
    }
    const std::string_view piece = text.substr(at, end - at);
    const std::size_t first = character_at(piece, 0).bytes;
    result += upper(piece.substr(0, first)) + lower(piece.substr(first));
    at = end;
  }
  return result;
}

Result<Value> trim(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"chars"}, 0));
  TRY_ASSIGN(const Value text, soft_text(interpreter, input));
  std::optional<std::string_view> characters;
  if (bound[0] && !bound[0]->is_none()) {
    if (!bound[0]->is_text()) return fail(ErrorKind::kDamaged, "trim needs a text of characters");
    characters = bound[0]->as_text();
  }
  return interpreter.budget().text(std::string(strip(text.as_text(), Side::kBoth, characters)),
                                   text.is_safe());
}

Result<Value> replace_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"old", "new", "count"}, 2));
  TRY_ASSIGN(const std::string text, interpreter.shown(input));
  TRY_ASSIGN(const std::string from, interpreter.shown(*bound[0]));
  TRY_ASSIGN(const std::string to, interpreter.shown(*bound[1]));
  std::int64_t limit = -1;
  if (bound[2] && !bound[2]->is_none()) {
    if (!bound[2]->is_whole()) return fail(ErrorKind::kDamaged, "replace needs an integer count");
    limit = bound[2]->as_integer();
  }
  TRY_ASSIGN(std::string result, replaced(interpreter.budget(), text, from, to, limit));
  return Value::text(std::move(result));
}

Result<Value> string_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  return soft_text(interpreter, input);
}

Result<Value> safe_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY_ASSIGN(std::string text, interpreter.shown(input));
  return Value::text(std::move(text), true);
}

template <bool kAlsoSafe>
Result<Value> escape_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  if (!kAlsoSafe && input.is_safe()) return input;
  TRY_ASSIGN(const std::string text, interpreter.shown(input));
  return interpreter.budget().text(escaped(text), true);
}

Result<Value> format_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const Value text, soft_text(interpreter, input));
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    return fail(ErrorKind::kDamaged, "format takes values by position or by name, not both");
  }
  Value values = Value::tuple(std::move(arguments.positional));
  if (!arguments.named.empty()) {
    Entries entries;
    for (auto& [name, value] : arguments.named) entries.push_back({Value::text(name), value});
    values = Value::dict(std::move(entries));
  }
  return formatted_percent(interpreter.budget(), text, values);
}

Result<std::string> indentation(const std::optional<Value>& width) {
  if (!width) return std::string(4, ' ');
  if (width->is_text()) return width->as_text();
  if (!width->is_whole()) return fail(ErrorKind::kDamaged, "the width is no integer and no text");
  if (width->as_integer() > 10'000) return fail(ErrorKind::kDamaged, "a width beyond 10000");
  return std::string(static_cast<std::size_t>(std::max<std::int64_t>(width->as_integer(), 0)), ' ');
}

Result<Value> indent(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments), {"width", "first", "blank"}, 0));
  if (input.is_undefined()) return fail(ErrorKind::kDamaged, input.why());
  if (!input.is_text()) return fail(ErrorKind::kDamaged, "indent needs a text");
  TRY_ASSIGN(const std::string space, indentation(bound[0]));
  const bool first = bound[1] && truth(*bound[1]);
  const bool blank = bound[2] && truth(*bound[2]);
  // The last line counts even where it is empty.
  const std::string with_end = input.as_text() + "\n";
  std::string text;
  const auto lines = split_lines(with_end, false);
  TRY(interpreter.budget().spend(with_end.size() + lines.size() * (space.size() + 1)));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    if (i == 0 ? first : blank || !lines[i].empty()) text += space;
    text += lines[i];
  }
  return Value::text(std::move(text), input.is_safe());
}

Result<Value> center(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"width"}, 0));
  TRY_ASSIGN(const Value text, soft_text(interpreter, input));
  TRY_ASSIGN(const Value method, attribute_of(interpreter, text, "center"));
  return interpreter.call(method, {{bound[0].value_or(Value::integer(80))}, {}});
}

Result<Value> truncate(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments), {"length", "killwords", "end", "leeway"}, 0));
  const Value length = bound[0].value_or(Value::integer(255));
  const Value end = bound[2].value_or(Value::text("..."));
  Value leeway = bound[3].value_or(Value());
  if (leeway.is_none()) leeway = Value::integer(5);
  if (!length.is_whole() || !end.is_text() || !leeway.is_whole()) {
    return fail(ErrorKind::kDamaged, "truncate needs a length and a text for the end");
  }
  const std::int64_t kept = length.as_integer() - character_count(end.as_text());
  if (kept < 0 || leeway.as_integer() < 0) {
    return fail(ErrorKind::kDamaged, "truncate: the length is shorter than the end");
  }
  // What is short enough need not be a text.
  TRY_ASSIGN(const Value counted, interpreter.apply_filter("length", input, {}));
  const std::int64_t size = counted.as_integer();
  if (size <= length.as_integer() || size - length.as_integer() <= leeway.as_integer())
    return input;
  if (!input.is_text()) return fail(ErrorKind::kDamaged, "truncate needs a text");
  std::string text = input.as_text().substr(0, byte_of_character(input.as_text(), kept));
  const bool cut_words = bound[1] && truth(*bound[1]);
  const std::size_t last_space = text.rfind(' ');
  if (!cut_words && last_space != std::string::npos) text.resize(last_space);
  return interpreter.budget().text(text + end.as_text());
}

Result<Value> wordcount(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY_ASSIGN(const Value text, soft_text(interpreter, input));
  std::int64_t words = 0;
  bool in_word = false;
  for (std::size_t at = 0; at < text.as_text().size();) {
    const Character character = character_at(text.as_text(), at);
    const bool part = character.code == '_' || (traits_of(character.code) & kAlphanumeric) != 0;
    words += part && !in_word ? 1 : 0;
    in_word = part;
    at += character.bytes;
  }
  return Value::integer(words);
}

Result<Value> tojson(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments),
                            {"ensure_ascii", "indent", "separators", "sort_keys"}, 0));
  JsonStyle style;
  style.ascii = bound[0] && truth(*bound[0]);
  style.sorted = bound[3] && truth(*bound[3]);
  if (bound[1] && !bound[1]->is_none()) {
    TRY_ASSIGN(style.indent, indentation(bound[1]));
    style.item_separator = ",";
  }
  if (bound[2] && !bound[2]->is_none()) {
    const Value& pair = *bound[2];
    if (!pair.is_sequence() || pair.items().size() != 2 || !pair.items()[0].is_text() ||
        !pair.items()[1].is_text()) {
      return fail(ErrorKind::kDamaged, "tojson: separators are two texts");
    }
    style.item_separator = pair.items()[0].as_text();
    style.key_separator = pair.items()[1].as_text();
  }
  TRY_ASSIGN(std::string text, to_json(interpreter.budget(), input, style));
  return Value::text(std::move(text));
}

Result<Value> join(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"d", "attribute"}, 0));
  TRY_ASSIGN(const std::string separator, interpreter.shown(bound[0].value_or(Value::text(""))));
  TRY_ASSIGN(const Items items, interpreter.iterate(input));
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    TRY_ASSIGN(const Value item,
               attribute_by_path(interpreter, items[i], bound[1].value_or(Value())));
    TRY_ASSIGN(const std::string piece, interpreter.shown(item));
    TRY(interpreter.budget().spend(separator.size()));
    if (i > 0) text += separator;
    text += piece;
  }
  return Value::text(std::move(text));
}

constexpr Filter kFilters[] = {
    {"trim", trim},
    {"upper", change_case<upper>},
    {"lower", change_case<lower>},
    {"capitalize", change_case<capitalize>},
    {"title", change_case<title_of_words>},
    {"replace", replace_filter},
    {"string", string_filter},
    {"safe", safe_filter},
    {"e", escape_filter<false>},
    {"escape", escape_filter<false>},
    {"forceescape", escape_filter<true>},
    {"format", format_filter},
    {"indent", indent},
    {"center", center},
    {"truncate", truncate},
    {"wordcount", wordcount},
    {"tojson", tojson},
    {"join", join},
};

}  // namespace

std::span<const Filter> text_filters() { return kFilters; }

}  // namespace shardlens::trainer::chat
