#include <algorithm>

#include "trainer/chat/builtins.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

namespace {

Result<Value> length(Interpreter&, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  std::optional<std::int64_t> size;
  if (input.is_undefined()) size = 0;
  if (input.is_text()) size = character_count(input.as_text());
  if (input.is_sequence()) size = static_cast<std::int64_t>(input.items().size());
  if (input.is_dict()) size = static_cast<std::int64_t>(input.entries().size());
  if (input.kind() == Kind::kObject) size = input.as_object().length();
  if (size) return Value::integer(*size);
  return fail(ErrorKind::kDamaged, "a value of type " + input.type_name() + " has no length");
}

Result<Value> default_filter(Interpreter&, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments), {"default_value", "boolean"}, 0));
  const bool also_false = bound[1] && truth(*bound[1]);
  if (!input.is_undefined() && !(also_false && !truth(input))) return input;
  return bound[0].value_or(Value::text(""));
}

Result<Value> first(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  if (is_iterator(input)) {
    TRY_ASSIGN(auto item, input.as_object().next(interpreter));
    return item ? *item : Value::undefined("there is no first item: the sequence is empty");
  }
  TRY_ASSIGN(const Items items, interpreter.iterate(input));
  if (items.empty()) return Value::undefined("there is no first item: the sequence is empty");
  return items.front();
}

Result<Value> last(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  if (is_iterator(input)) {
    return fail(ErrorKind::kDamaged, "last of a generator: put '| list' before it");
  }
  TRY_ASSIGN(const Items items, interpreter.iterate(input));
  if (items.empty()) return Value::undefined("there is no last item: the sequence is empty");
  return items.back();
}

Result<Value> list_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY_ASSIGN(Items items, interpreter.iterate(input));
  return interpreter.budget().list(std::move(items));
}

Result<Value> reverse(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  const bool was_iterator = is_iterator(input);
  TRY_ASSIGN(Items items, interpreter.iterate(input));
  std::reverse(items.begin(), items.end());
  if (input.is_text()) {
    std::string text;
    for (const Value& character : items) text += character.as_text();
    return interpreter.budget().text(std::move(text), input.is_safe());
  }
  TRY_ASSIGN(const Value list, interpreter.budget().list(std::move(items)));
  if (was_iterator) return list;
  const auto next = [list,
                     at = std::size_t{0}](Interpreter&) mutable -> Result<std::optional<Value>> {
    if (at == list.items().size()) return std::nullopt;
    return list.items()[at++];
  };
  return interpreter.budget().object(
      std::make_shared<Generator>("list_reverseiterator", next, list.depth() + 1));
}

Result<Items> sort_key(Interpreter& interpreter, const Value& item, const Value& attribute,
                       bool case_sensitive) {
  Items paths = {attribute};
  if (attribute.is_text()) {
    paths.clear();
    for (const std::string_view path : split(attribute.as_text(), ",", -1)) {
      paths.push_back(Value::text(std::string(path)));
    }
  }
  Items key;
  for (const Value& path : paths) {
    TRY_ASSIGN(const Value value, attribute_by_path(interpreter, item, path));
    TRY_ASSIGN(Value part, comparison_key(interpreter, value, case_sensitive));
    key.push_back(std::move(part));
  }
  return key;
}

Result<Value> sorted_by(Interpreter& interpreter, const Items& items,
                        const std::vector<Items>& keys, bool reversed) {
  TRY_ASSIGN(const std::vector<std::size_t> order,
             sorted_order(interpreter.budget(), keys, reversed));
  Items sorted;
  for (const std::size_t index : order) sorted.push_back(items[index]);
  return interpreter.budget().list(std::move(sorted));
}

Result<Value> sort_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments), {"reverse", "case_sensitive", "attribute"}, 0));
  TRY_ASSIGN(const Items items, interpreter.iterate(input));
  std::vector<Items> keys;
  for (const Value& item : items) {
    TRY_ASSIGN(Items key, sort_key(interpreter, item, bound[2].value_or(Value()),
                                   bound[1] && truth(*bound[1])));
    keys.push_back(std::move(key));
  }
  return sorted_by(interpreter, items, keys, bound[0] && truth(*bound[0]));
}

Result<Value> dictsort(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments), {"case_sensitive", "by", "reverse"}, 0));
  const Value by = bound[1].value_or(Value::text("key"));
  const bool by_value = by.is_text() && by.as_text() == "value";
  if (!by_value && !(by.is_text() && by.as_text() == "key")) {
    return fail(ErrorKind::kDamaged, "dictsort sorts by 'key' or by 'value'");
  }
  if (!input.is_dict()) return fail(ErrorKind::kDamaged, "dictsort needs a dict");
  Items pairs;
  std::vector<Items> keys;
  for (const Entry& entry : input.entries()) {
    pairs.push_back(Value::tuple({entry.key, entry.value}));
    TRY_ASSIGN(Value key, comparison_key(interpreter, by_value ? entry.value : entry.key,
                                         bound[0] && truth(*bound[0])));
    keys.push_back({std::move(key)});
  }
  return sorted_by(interpreter, pairs, keys, bound[2] && truth(*bound[2]));
}

template <bool kLargest>
Result<Value> extreme(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments), {"case_sensitive", "attribute"}, 0));
  TRY_ASSIGN(const Items items, interpreter.iterate(input));
  const Value* best = nullptr;
  Value best_key;
  for (const Value& item : items) {
    TRY_ASSIGN(const Value value, attribute_by_path(interpreter, item, bound[1].value_or(Value())));
    TRY_ASSIGN(const Value key, comparison_key(interpreter, value, bound[0] && truth(*bound[0])));
    int order = -1;
    if (best != nullptr) {
      TRY_ASSIGN(order, kLargest ? compare(interpreter.budget(), best_key, key, ">")
                                 : compare(interpreter.budget(), key, best_key, "<"));
    }
    if (order >= 0) continue;
    best = &item;
    best_key = key;
  }
  return best != nullptr ? *best : Value::undefined("the sequence is empty");
}

Result<Value> sum(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"attribute", "start"}, 0));
  TRY_ASSIGN(const Items items, interpreter.iterate(input));
  Value total = bound[1].value_or(Value::integer(0));
  if (total.is_text()) return fail(ErrorKind::kDamaged, "sum() cannot join texts: use join");
  for (const Value& item : items) {
    TRY_ASSIGN(const Value value, attribute_by_path(interpreter, item, bound[0].value_or(Value())));
    TRY_ASSIGN(total, calculate(interpreter.budget(), "+", total, value));
  }
  return total;
}

Result<Value> attr(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"name"}, 1));
  if (input.is_undefined()) return fail(ErrorKind::kDamaged, input.why());
  if (!bound[0]->is_text()) return fail(ErrorKind::kDamaged, "attr needs a name");
  const std::string& name = bound[0]->as_text();
  // An attribute only, no item of a dict.
  if (input.is_dict() && !method_of(input, name)) {
    return Value::undefined("a dict has no attribute '" + name + "'");
  }
  return attribute_of(interpreter, input, name);
}

constexpr Filter kFilters[] = {
    {"length", length},     {"count", length},       {"default", default_filter},
    {"d", default_filter},  {"first", first},        {"last", last},
    {"list", list_filter},  {"reverse", reverse},    {"sort", sort_filter},
    {"dictsort", dictsort}, {"min", extreme<false>}, {"max", extreme<true>},
    {"sum", sum},           {"attr", attr},
};

}  // namespace

std::span<const Filter> sequence_filters() { return kFilters; }

}  // namespace shardlens::trainer::chat
