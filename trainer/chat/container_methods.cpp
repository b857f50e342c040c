#include <algorithm>
#include <array>
#include <string>

#include "trainer/chat/interpreter.h"
#include "trainer/chat/methods.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

namespace {

Result<Value> view(Interpreter& interpreter, const char* type, Items items) {
  TRY_ASSIGN(Value list, interpreter.budget().list(std::move(items)));
  return interpreter.budget().object(std::make_shared<DictView>(type, std::move(list)));
}

Result<Value> dict_keys(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  Items keys;
  for (const Entry& entry : self.entries()) keys.push_back(entry.key);
  return view(interpreter, "dict_keys", std::move(keys));
}

Result<Value> dict_values(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  Items values;
  for (const Entry& entry : self.entries()) values.push_back(entry.value);
  return view(interpreter, "dict_values", std::move(values));
}

Result<Value> dict_items(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  Items pairs;
  for (const Entry& entry : self.entries()) {
    TRY_ASSIGN(Value pair, interpreter.budget().tuple({entry.key, entry.value}));
    pairs.push_back(std::move(pair));
  }
  return view(interpreter, "dict_items", std::move(pairs));
}

Result<Value> dict_get(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"", ""}, 1));
  TRY(check_hashable(*bound[0]));
  TRY_ASSIGN(const Value* found, find_entry(interpreter.budget(), self, *bound[0]));
  if (found != nullptr) return *found;
  return bound[1].value_or(Value());
}

Result<Value> dict_copy(Interpreter&, const Value& self, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  return self;
}

// Of a list or a tuple.
Result<Value> sequence_index(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"", "", ""}, 1));
  const auto size = static_cast<std::int64_t>(self.items().size());
  std::int64_t limits[] = {0, size};
  for (int i = 0; i < 2; ++i) {
    if (!bound[i + 1]) continue;
    if (!bound[i + 1]->is_whole()) return fail(ErrorKind::kDamaged, "index() needs integers");
    limits[i] = bound[i + 1]->as_integer();
    if (limits[i] < 0) limits[i] = std::max<std::int64_t>(limits[i] + size, 0);
  }
  for (std::int64_t i = limits[0]; i < std::min(limits[1], size); ++i) {
    TRY_ASSIGN(const bool same,
               equal(interpreter.budget(), self.items()[static_cast<std::size_t>(i)], *bound[0]));
    if (same) return Value::integer(i);
  }
  return fail(ErrorKind::kDamaged, "index(): the value is not in the " + self.type_name());
}

Result<Value> sequence_count(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {""}, 1));
  std::int64_t count = 0;
  for (const Value& item : self.items()) {
    TRY_ASSIGN(const bool same, equal(interpreter.budget(), item, *bound[0]));
    count += same ? 1 : 0;
  }
  return Value::integer(count);
}

constexpr Method kDictMethods[] = {
    {"keys", dict_keys}, {"values", dict_values}, {"items", dict_items},
    {"get", dict_get},   {"copy", dict_copy},
};
constexpr Method kListMethods[] = {
    {"index", sequence_index}, {"count", sequence_count}, {"copy", dict_copy}};
constexpr Method kTupleMethods[] = {{"index", sequence_index}, {"count", sequence_count}};

// What the sandbox of transformers keeps from templates: whoever calls it fails.
bool changes_its_object(Kind kind, std::string_view name) {
  constexpr std::array<std::string_view, 8> kOfLists = {"append", "clear", "pop",    "reverse",
                                                        "insert", "sort",  "extend", "remove"};
  constexpr std::array<std::string_view, 5> kOfDicts = {"clear", "pop", "popitem", "setdefault",
                                                        "update"};
  const auto in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return (kind == Kind::kList && in(kOfLists)) || (kind == Kind::kDict && in(kOfDicts));
}

// Methods of Python's str that no template in use calls.
bool known_but_missing(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {"encode",       "expandtabs", "format_map",
                                                      "casefold",     "maketrans",  "translate",
                                                      "isidentifier", "__len__"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

const Method* find_method(std::span<const Method> methods, std::string_view name) {
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [&](const Method& method) { return method.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

const Method* method_named(const Value& receiver, std::string_view name) {
  if (!receiver.is_text()) return find_method(container_methods(receiver.kind()), name);
  const Method* method = find_method(text_methods(), name);
  return method != nullptr ? method : find_method(text_case_methods(), name);
}

}  // namespace

std::span<const Method> container_methods(Kind kind) {
  if (kind == Kind::kDict) return kDictMethods;
  if (kind == Kind::kList) return kListMethods;
  if (kind == Kind::kTuple) return kTupleMethods;
  return {};
}

std::optional<Value> method_of(const Value& receiver, std::string_view name) {
  if (changes_its_object(receiver.kind(), name)) {
    return Value::undefined("'" + std::string(name) + "' would change a " + receiver.type_name() +
                            ", which templates may not (use a namespace, or + to join lists)");
  }
  if (receiver.is_text() && known_but_missing(name)) {
    return Value::undefined("the method '" + std::string(name) + "' of texts is not supported");
  }
  const Method* method = method_named(receiver, name);
  if (method == nullptr) return std::nullopt;
  const auto body = [receiver, method](Interpreter& interpreter, Arguments arguments) {
    return method->body(interpreter, receiver, std::move(arguments));
  };
  return Value::object(std::make_shared<Function>(std::string(name), body, receiver.depth() + 1));
}

}  // namespace shardlens::trainer::chat
