#include "trainer/chat/value.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "trainer/chat/object.h"

namespace shardlens::trainer::chat {

namespace {

int depth_of(const Items& items) {
  int deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, item.depth());
  return deepest + 1;
}

}  // namespace

Value Value::undefined(std::string why) {
  return Value(Data(Why{std::make_shared<const std::string>(std::move(why))}));
}

Value Value::boolean(bool value) { return Value(Data(value)); }
Value Value::integer(std::int64_t value) { return Value(Data(value)); }
Value Value::real(double value) { return Value(Data(value)); }

Value Value::text(std::string text, bool safe) {
  return Value(Data(std::make_shared<const Text>(Text{std::move(text), safe})));
}

Value Value::list(Items items) {
  const int depth = depth_of(items);
  return Value(Data(std::make_shared<const Holder>(Holder{std::move(items), depth})));
}

Value Value::tuple(Items items) {
  const int depth = depth_of(items);
  return Value(Data(Tuple{std::make_shared<const Holder>(Holder{std::move(items), depth})}));
}

Value Value::dict(Entries entries) {
  int deepest = 0;
  for (const Entry& entry : entries) {
    deepest = std::max({deepest, entry.key.depth(), entry.value.depth()});
  }
  return Value(Data(std::make_shared<const Mapping>(Mapping{std::move(entries), deepest + 1})));
}

Value Value::object(std::shared_ptr<Object> object) { return Value(Data(std::move(object))); }

Kind Value::kind() const {
  // In the order of Data.
  constexpr Kind kKinds[] = {Kind::kNone, Kind::kUndefined, Kind::kBoolean, Kind::kInteger,
                             Kind::kReal, Kind::kText,      Kind::kList,    Kind::kTuple,
                             Kind::kDict, Kind::kObject};
  return kKinds[data_.index()];
}

const std::string& Value::why() const { return *std::get<Why>(data_).message; }
bool Value::as_boolean() const { return std::get<bool>(data_); }

std::int64_t Value::as_integer() const {
  if (const bool* truth = std::get_if<bool>(&data_)) return *truth ? 1 : 0;
  return std::get<std::int64_t>(data_);
}

double Value::as_real() const {
  if (const double* real = std::get_if<double>(&data_)) return *real;
  return static_cast<double>(as_integer());
}

const std::string& Value::as_text() const {
  return std::get<std::shared_ptr<const Text>>(data_)->text;
}

bool Value::is_safe() const {
  return is_text() && std::get<std::shared_ptr<const Text>>(data_)->safe;
}

const Items& Value::items() const {
  if (const Tuple* tuple = std::get_if<Tuple>(&data_)) return tuple->holder->items;
  return std::get<std::shared_ptr<const Holder>>(data_)->items;
}

const Entries& Value::entries() const {
  return std::get<std::shared_ptr<const Mapping>>(data_)->entries;
}

Object& Value::as_object() const { return *std::get<std::shared_ptr<Object>>(data_); }

const std::shared_ptr<Object>& Value::shared_object() const {
  return std::get<std::shared_ptr<Object>>(data_);
}

int Value::depth() const {
  switch (kind()) {
    case Kind::kList:
      return std::get<std::shared_ptr<const Holder>>(data_)->depth;
    case Kind::kTuple:
      return std::get<Tuple>(data_).holder->depth;
    case Kind::kDict:
      return std::get<std::shared_ptr<const Mapping>>(data_)->depth;
    case Kind::kObject:
      return as_object().depth();
    default:
      return 0;
  }
}

bool Value::same_as(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kUndefined:
      return std::get<Why>(data_).message == std::get<Why>(other.data_).message;
    case Kind::kNone:
      return true;
    case Kind::kText:
      return as_text() == other.as_text();
    case Kind::kTuple:
      return std::get<Tuple>(data_).holder == std::get<Tuple>(other.data_).holder;
    case Kind::kBoolean:
    case Kind::kInteger:
      return as_integer() == other.as_integer();
    case Kind::kReal:
      return as_real() == other.as_real();
    case Kind::kList:
      return &items() == &other.items();
    case Kind::kDict:
      return &entries() == &other.entries();
    case Kind::kObject:
      return &as_object() == &other.as_object();
  }
  return false;
}

std::string Value::type_name() const {
  switch (kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBoolean:
      return "bool";
    case Kind::kInteger:
      return "int";
    case Kind::kReal:
      return "float";
    case Kind::kText:
      return "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kObject:
      return as_object().type_name();
  }
  return {};
}

const Value* Value::find(std::string_view key) const {
  if (!is_dict()) return nullptr;
  for (const Entry& entry : entries()) {
    if (entry.key.is_text() && entry.key.as_text() == key) return &entry.value;
  }
  return nullptr;
}

void set_text_entry(Entries& entries, std::string_view key, Value value) {
  for (Entry& entry : entries) {
    if (!entry.key.is_text() || entry.key.as_text() != key) continue;
    entry.value = std::move(value);
    return;
  }
  entries.push_back({Value::text(std::string(key)), std::move(value)});
}

namespace {

Result<Value> convert(const nlohmann::ordered_json& json, int depth) {
  if (depth > kDeepestValue) {
    return fail(ErrorKind::kDamaged, "the conversation is nested more than 100 deep");
  }
  if (json.is_boolean()) return Value::boolean(json.get<bool>());
  if (json.is_number_float()) return Value::real(json.get<double>());
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return fail(ErrorKind::kDamaged, "the number " + json.dump() + " has more than 64 bits");
  }
  if (json.is_number()) return Value::integer(json.get<std::int64_t>());
  if (json.is_string()) return Value::text(json.get<std::string>());
  if (json.is_array()) {
    Items items;
    items.reserve(json.size());
    for (const auto& item : json) {
      TRY_ASSIGN(Value value, convert(item, depth + 1));
      items.push_back(std::move(value));
    }
    return Value::list(std::move(items));
  }
  if (!json.is_object()) return Value();
  Entries entries;
  entries.reserve(json.size());
  for (const auto& [key, item] : json.items()) {
    TRY_ASSIGN(Value value, convert(item, depth + 1));
    entries.push_back({Value::text(key), std::move(value)});
  }
  return Value::dict(std::move(entries));
}

}  // namespace

Result<Value> value_from_json(const nlohmann::ordered_json& json) { return convert(json, 0); }

}  // namespace shardlens::trainer::chat
