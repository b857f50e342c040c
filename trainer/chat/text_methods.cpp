#include <algorithm>

#include "trainer/chat/format.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/methods.h"
#include "trainer/chat/python_text.h"

namespace shardlens::trainer::chat {

namespace {

Result<Value> like(Interpreter& interpreter, const Value& self, std::string_view text) {
  return interpreter.budget().text(std::string(text), self.is_safe());
}

tl::unexpected<Error> wrong_type(std::string_view method, const Value& value) {
  if (value.is_undefined()) return fail(ErrorKind::kDamaged, value.why());
  return fail(ErrorKind::kDamaged,
              std::string(method) + "() got a value of type " + value.type_name());
}

// An optional text: absent or None is nothing.
Result<std::optional<std::string_view>> text_or_none(std::string_view method,
                                                     const std::optional<Value>& value) {
  if (!value || value->is_none()) return std::nullopt;
  if (!value->is_text()) return wrong_type(method, *value);
  return std::string_view(value->as_text());
}

Result<std::int64_t> whole(std::string_view method, const std::optional<Value>& value,
                           std::int64_t missing) {
  if (!value) return missing;
  if (!value->is_whole()) return wrong_type(method, *value);
  return value->as_integer();
}

template <Side kSide>
Result<Value> strip_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {""}, 0));
  TRY_ASSIGN(const auto characters, text_or_none(name, bound[0]));
  TRY(interpreter.budget().spend(self.as_text().size()));
  return like(interpreter, self, strip(self.as_text(), kSide, characters));
}

Result<Value> as_list(Interpreter& interpreter, const Value& self,
                      const std::vector<std::string_view>& parts) {
  Items items;
  for (const std::string_view part : parts) {
    items.push_back(Value::text(std::string(part), self.is_safe()));
  }
  TRY(interpreter.budget().spend(self.as_text().size()));
  return interpreter.budget().list(std::move(items));
}

template <bool kFromRight>
Result<Value> split_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"sep", "maxsplit"}, 0));
  TRY_ASSIGN(const auto separator, text_or_none(name, bound[0]));
  TRY_ASSIGN(const std::int64_t limit, whole(name, bound[1], -1));
  if (separator && separator->empty()) return fail(ErrorKind::kDamaged, "an empty separator");
  // Paid for before they are there; words are no more than characters.
  const std::int64_t parts = separator ? count(self.as_text(), *separator) + 1
                                       : static_cast<std::int64_t>(self.as_text().size());
  TRY(interpreter.budget().spend_items(static_cast<std::size_t>(parts)));
  return as_list(interpreter, self,
                 kFromRight ? split_from_right(self.as_text(), separator, limit)
                            : split(self.as_text(), separator, limit));
}

Result<Value> splitlines(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"keepends"}, 0));
  TRY_ASSIGN(const std::int64_t keep, whole(name, bound[0], 0));
  TRY(interpreter.budget().spend_items(self.as_text().size()));
  return as_list(interpreter, self, split_lines(self.as_text(), keep != 0));
}

struct Part {
  std::string_view text;
  std::int64_t begin;  // in characters
};

// The part of a text that the optional bounds of find(), count() and so on name. Without a value:
// its begin is beyond its end, where not even an empty text is found.
std::optional<Part> part_of(std::string_view text, std::int64_t start, std::int64_t stop) {
  const std::int64_t length = character_count(text);
  if (stop > length) stop = length;
  if (stop < 0) stop = std::max<std::int64_t>(stop + length, 0);
  if (start < 0) start = std::max<std::int64_t>(start + length, 0);
  if (start > stop) return std::nullopt;
  const std::size_t begin = byte_of_character(text, start);
  return Part{text.substr(begin, byte_of_character(text, stop) - begin), start};
}

constexpr std::int64_t kFarEnd = std::int64_t{1} << 40;

Result<std::int64_t> bound_or(std::string_view method, const std::optional<Value>& value,
                              std::int64_t missing) {
  if (value && value->is_none()) return missing;
  return whole(method, value, missing);
}

template <bool kPrefix>
Result<Value> affix_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"", "", ""}, 1));
  TRY_ASSIGN(const std::int64_t start, bound_or(name, bound[1], 0));
  TRY_ASSIGN(const std::int64_t stop, bound_or(name, bound[2], kFarEnd));
  TRY(interpreter.budget().spend(self.as_text().size() / 8));
  const auto part = part_of(self.as_text(), start, stop);
  const Items single = {*bound[0]};
  for (const Value& affix : bound[0]->kind() == Kind::kTuple ? bound[0]->items() : single) {
    if (!affix.is_text()) return wrong_type(name, affix);
    if (!part) continue;
    const bool found =
        kPrefix ? part->text.starts_with(affix.as_text()) : part->text.ends_with(affix.as_text());
    if (found) return Value::boolean(true);
  }
  return Value::boolean(false);
}

// What find(), count() and their kin look for, and where.
struct Search {
  Value wanted;
  std::optional<Part> part;
};

Result<Search> search(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"", "", ""}, 1));
  if (!bound[0]->is_text()) return wrong_type(name, *bound[0]);
  TRY_ASSIGN(const std::int64_t start, bound_or(name, bound[1], 0));
  TRY_ASSIGN(const std::int64_t stop, bound_or(name, bound[2], kFarEnd));
  TRY(interpreter.budget().spend(self.as_text().size()));
  return Search{*bound[0], part_of(self.as_text(), start, stop)};
}

template <bool kFromRight, bool kMustBeThere>
Result<Value> find_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY_ASSIGN(const Search given, search(interpreter, self, std::move(arguments)));
  std::int64_t position = -1;
  if (const auto& part = given.part) {
    const std::string_view wanted = given.wanted.as_text();
    const std::size_t at = kFromRight ? find_last(part->text, wanted) : find(part->text, wanted);
    if (at != std::string_view::npos) {
      position = part->begin + character_count(part->text.substr(0, at));
    }
  }
  if (kMustBeThere && position < 0) return fail(ErrorKind::kDamaged, "substring not found");
  return Value::integer(position);
}

Result<Value> count_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY_ASSIGN(const Search given, search(interpreter, self, std::move(arguments)));
  return Value::integer(given.part ? count(given.part->text, given.wanted.as_text()) : 0);
}

Result<Value> replace_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"", "", ""}, 2));
  for (int i = 0; i < 2; ++i) {
    if (!bound[i]->is_text()) return wrong_type(name, *bound[i]);
  }
  TRY_ASSIGN(const std::int64_t limit, whole(name, bound[2], -1));
  const bool escape = self.is_safe() && !bound[1]->is_safe();
  const std::string to = escape ? escaped(bound[1]->as_text()) : bound[1]->as_text();
  TRY_ASSIGN(std::string text,
             replaced(interpreter.budget(), self.as_text(), bound[0]->as_text(), to, limit));
  return Value::text(std::move(text), self.is_safe());
}

Result<Value> join_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {""}, 1));
  TRY_ASSIGN(const Items items, interpreter.iterate(*bound[0]));
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_text()) return wrong_type(name, items[i]);
    TRY(interpreter.budget().spend(self.as_text().size() + items[i].as_text().size()));
    if (i > 0) text += self.as_text();
    text +=
        self.is_safe() && !items[i].is_safe() ? escaped(items[i].as_text()) : items[i].as_text();
  }
  return Value::text(std::move(text), self.is_safe());
}

template <bool kFromRight>
Result<Value> partition_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {""}, 1));
  if (!bound[0]->is_text()) return wrong_type(name, *bound[0]);
  const std::string& separator = bound[0]->as_text();
  if (separator.empty()) return fail(ErrorKind::kDamaged, "an empty separator");
  const std::string_view text = self.as_text();
  TRY(interpreter.budget().spend(text.size() * 2));
  const std::size_t at = kFromRight ? find_last(text, separator) : find(text, separator);
  const auto part = [&](std::string_view piece) {
    return Value::text(std::string(piece), self.is_safe());
  };
  if (at == std::string_view::npos) {
    if (kFromRight) return interpreter.budget().tuple({part({}), part({}), part(text)});
    return interpreter.budget().tuple({part(text), part({}), part({})});
  }
  return interpreter.budget().tuple(
      {part(text.substr(0, at)), part(separator), part(text.substr(at + separator.size()))});
}

template <bool kPrefix>
Result<Value> remove_affix(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {""}, 1));
  if (!bound[0]->is_text()) return wrong_type(name, *bound[0]);
  std::string_view text = self.as_text();
  const std::string& affix = bound[0]->as_text();
  if (kPrefix && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (!kPrefix && text.ends_with(affix)) text.remove_suffix(affix.size());
  return like(interpreter, self, text);
}

template <char kAlign>
Result<Value> justify(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"", ""}, 1));
  FormatSpec spec;
  TRY_ASSIGN(spec.width, whole(name, bound[0], 0));
  TRY_ASSIGN(const auto fill, text_or_none(name, bound[1]));
  if (fill) spec.fill = *fill;
  if (character_count(spec.fill) != 1) {
    return fail(ErrorKind::kDamaged, std::string(name) + "() fills with one character");
  }
  // Of an odd rest, Python's center() gives the left side one more where the width is odd.
  const std::int64_t missing = spec.width - character_count(self.as_text());
  std::string text = self.as_text();
  if (kAlign == '^' && missing > 0 && missing % 2 != 0 && spec.width % 2 != 0) {
    text.insert(0, spec.fill);
  }
  TRY_ASSIGN(text, padded(interpreter.budget(), std::move(text), spec, kAlign));
  return Value::text(std::move(text), self.is_safe());
}

Result<Value> zfill(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const std::string_view name = arguments.callee;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {""}, 1));
  FormatSpec spec;
  spec.fill = "0";
  TRY_ASSIGN(spec.width, whole(name, bound[0], 0));
  std::string_view text = self.as_text();
  const std::string sign(text.starts_with('-') || text.starts_with('+') ? text.substr(0, 1) : "");
  text.remove_prefix(sign.size());
  spec.width -= static_cast<std::int64_t>(sign.size());
  TRY_ASSIGN(const std::string digits, padded(interpreter.budget(), std::string(text), spec, '>'));
  return Value::text(sign + digits);
}

Result<Value> format_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  return formatted_braces(interpreter, self, arguments);
}

constexpr Method kMethods[] = {
    {"strip", strip_method<Side::kBoth>},
    {"lstrip", strip_method<Side::kLeft>},
    {"rstrip", strip_method<Side::kRight>},
    {"split", split_method<false>},
    {"rsplit", split_method<true>},
    {"splitlines", splitlines},
    {"startswith", affix_method<true>},
    {"endswith", affix_method<false>},
    {"find", find_method<false, false>},
    {"rfind", find_method<true, false>},
    {"index", find_method<false, true>},
    {"rindex", find_method<true, true>},
    {"count", count_method},
    {"replace", replace_method},
    {"join", join_method},
    {"partition", partition_method<false>},
    {"rpartition", partition_method<true>},
    {"removeprefix", remove_affix<true>},
    {"removesuffix", remove_affix<false>},
    {"ljust", justify<'<'>},
    {"rjust", justify<'>'>},
    {"center", justify<'^'>},
    {"zfill", zfill},
    {"format", format_method},
};

}  // namespace

std::span<const Method> text_methods() { return kMethods; }

Result<std::string> replaced(RenderBudget& budget, std::string_view text, std::string_view from,
                             std::string_view to, std::int64_t limit) {
  TRY(budget.spend(text.size()));
  std::int64_t places = count(text, from);
  if (limit >= 0) places = std::min(places, limit);
  TRY(budget.spend(text.size() + static_cast<std::size_t>(places) * to.size()));
  return replace(text, from, to, limit);
}

}  // namespace shardlens::trainer::chat
