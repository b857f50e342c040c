#include "trainer/chat/object.h"

#include <algorithm>

#include "trainer/chat/interpreter.h"

namespace shardlens::trainer::chat {

Result<Value> Object::call(Interpreter&, Arguments) {
  return fail(ErrorKind::kDamaged, "a value of type " + type_name() + " is not callable");
}

std::optional<Value> Object::attribute(std::string_view) const { return std::nullopt; }

Result<Items> Object::iterate(Interpreter&) {
  return fail(ErrorKind::kDamaged, "a value of type " + type_name() + " cannot be iterated over");
}

Result<std::optional<Value>> Object::next(Interpreter&) { return std::nullopt; }

Result<std::optional<Value>> Generator::next(Interpreter& interpreter) {
  if (ended_) return std::nullopt;
  TRY(interpreter.budget().spend_items(1));
  TRY_ASSIGN(auto item, next_(interpreter));
  ended_ = !item.has_value();
  return item;
}

Result<Items> Generator::iterate(Interpreter& interpreter) {
  Items items;
  while (true) {
    TRY_ASSIGN(auto item, next(interpreter));
    if (!item) return items;
    items.push_back(std::move(*item));
  }
}

std::optional<Value> Namespace::attribute(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.key.is_text() && entry.key.as_text() == name) return entry.value;
  }
  return std::nullopt;
}

void Namespace::set(std::string_view name, Value value) {
  set_text_entry(entries_, name, std::move(value));
}

std::string Range::representation() const {
  const std::string bounds = std::to_string(start_) + ", " + std::to_string(stop_);
  return "range(" + bounds + (step_ == 1 ? "" : ", " + std::to_string(step_)) + ")";
}

std::optional<std::int64_t> Range::length() const {
  const bool up = step_ > 0;
  if (up ? start_ >= stop_ : start_ <= stop_) return 0;
  // Without signs: the distance of two 64-bit numbers can have 65 bits with one.
  const auto low = static_cast<std::uint64_t>(up ? start_ : stop_);
  const auto high = static_cast<std::uint64_t>(up ? stop_ : start_);
  const auto step = up ? static_cast<std::uint64_t>(step_) : -static_cast<std::uint64_t>(step_);
  const std::uint64_t count = (high - low - 1) / step;
  constexpr std::uint64_t kMany = std::uint64_t{1} << 62;
  return static_cast<std::int64_t>(std::min(count, kMany)) + 1;
}

Result<Items> Range::iterate(Interpreter& interpreter) {
  const std::int64_t count = length().value_or(0);
  TRY(interpreter.budget().spend_items(static_cast<std::size_t>(count)));
  Items items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) items.push_back(Value::integer(at(i)));
  return items;
}

std::optional<Value> Range::attribute(std::string_view name) const {
  if (name == "start") return Value::integer(start_);
  if (name == "stop") return Value::integer(stop_);
  if (name == "step") return Value::integer(step_);
  return std::nullopt;
}

Result<Items> DictView::iterate(Interpreter& interpreter) {
  TRY(interpreter.budget().spend_items(items_.items().size()));
  return items_.items();
}

Result<std::vector<std::optional<Value>>> bind_arguments(
    Arguments arguments, std::initializer_list<std::string_view> parameters, std::size_t required) {
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorKind::kDamaged, std::string(arguments.callee) + "() " + what);
  };
  if (arguments.positional.size() > parameters.size()) {
    return wrong("takes at most " + std::to_string(parameters.size()) + " arguments");
  }
  std::vector<std::optional<Value>> bound(parameters.size());
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    bound[i] = std::move(arguments.positional[i]);
  }
  for (auto& [name, value] : arguments.named) {
    const auto* known = std::find(parameters.begin(), parameters.end(), name);
    if (known == parameters.end() || name.empty()) {
      return wrong("does not take the argument '" + name + "'");
    }
    auto& place = bound[static_cast<std::size_t>(known - parameters.begin())];
    if (place) return wrong("is given '" + name + "' twice");
    place = std::move(value);
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!bound[i]) return wrong("needs " + std::to_string(required) + " arguments");
  }
  return bound;
}

}  // namespace shardlens::trainer::chat
