// The part of operators that looks into values: attributes, items, slices, membership.
#include <algorithm>

#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_order.h"
#include "trainer/chat/value_text.h"

namespace shardlens::trainer::chat {

namespace {

Value no_attribute(const Value& object, std::string_view name) {
  return Value::undefined("'" + object.type_name() + " object' has no attribute '" +
                          std::string(name) + "'");
}

std::optional<Value> own_attribute(const Value& object, std::string_view name) {
  if (object.kind() == Kind::kObject) return object.as_object().attribute(name);
  return method_of(object, name);
}

std::optional<std::int64_t> length_of(const Value& value) {
  if (value.is_text()) return character_count(value.as_text());
  if (value.is_sequence()) return static_cast<std::int64_t>(value.items().size());
  if (value.kind() == Kind::kObject && value.as_object().subscriptable()) {
    return value.as_object().length();
  }
  return std::nullopt;
}

Value at(const Value& value, std::int64_t index) {
  if (value.is_sequence()) return value.items()[static_cast<std::size_t>(index)];
  if (value.is_text()) {
    const std::string_view text = value.as_text();
    const std::size_t byte = byte_of_character(text, index);
    return Value::text(std::string(text.substr(byte, character_at(text, byte).bytes)),
                       value.is_safe());
  }
  return Value::integer(static_cast<const Range&>(value.as_object()).at(index));
}

}  // namespace

Result<Value> attribute_of(Interpreter& interpreter, const Value& object, std::string_view name) {
  if (object.is_undefined()) return fail(ErrorKind::kDamaged, object.why());
  if (auto own = own_attribute(object, name)) return std::move(*own);
  if (object.is_dict()) TRY(interpreter.budget().spend(object.entries().size()));
  if (const Value* item = object.find(name)) return *item;
  return no_attribute(object, name);
}

Result<Value> item_of(Interpreter& interpreter, const Value& object, const Value& index) {
  if (object.is_undefined()) return fail(ErrorKind::kDamaged, object.why());
  if (object.is_dict() && check_hashable(index)) {
    TRY_ASSIGN(const Value* item, find_entry(interpreter.budget(), object, index));
    if (item != nullptr) return *item;
  }
  const auto length = index.is_whole() ? length_of(object) : std::nullopt;
  if (length) {
    if (object.is_text()) TRY(interpreter.budget().spend(object.as_text().size()));
    const std::int64_t wanted = index.as_integer();
    const std::int64_t position = wanted < 0 ? wanted + *length : wanted;
    if (position >= 0 && position < *length) return at(object, position);
  }
  if (index.is_text()) {
    if (auto own = own_attribute(object, index.as_text())) return std::move(*own);
    return no_attribute(object, index.as_text());
  }
  TRY_ASSIGN(const std::string shown, representation(interpreter.budget(), index));
  return Value::undefined(object.type_name() + " object has no element " + shown);
}

namespace {

struct Bounds {
  std::int64_t start, stop, step;
};

// As PySlice_AdjustIndices of CPython.
Result<Bounds> bounds_of(std::int64_t length, const Value& start, const Value& stop,
                         const Value& step) {
  for (const Value* bound : {&start, &stop, &step}) {
    if (bound->is_undefined()) return fail(ErrorKind::kDamaged, bound->why());
    if (!bound->is_none() && !bound->is_whole()) {
      return fail(ErrorKind::kDamaged, "a bound of a slice is no integer");
    }
  }
  Bounds bounds{0, 0, step.is_none() ? 1 : step.as_integer()};
  if (bounds.step == 0) return fail(ErrorKind::kDamaged, "the step of a slice is 0");
  // Beyond the length all steps are the same.
  bounds.step = std::clamp(bounds.step, -length - 1, length + 1);
  const bool up = bounds.step > 0;
  const auto adjusted = [&](const Value& bound, std::int64_t missing) {
    if (bound.is_none()) return missing;
    std::int64_t position = bound.as_integer();
    if (position < 0) position = std::max(position + length, up ? 0 : std::int64_t{-1});
    return std::min(position, up ? length : length - 1);
  };
  bounds.start = adjusted(start, up ? 0 : length - 1);
  bounds.stop = adjusted(stop, up ? length : -1);
  return bounds;
}

}  // namespace

Result<Value> slice_of(Interpreter& interpreter, const Value& object, const Value& start,
                       const Value& stop, const Value& step) {
  if (object.is_undefined()) return fail(ErrorKind::kDamaged, object.why());
  const auto length = length_of(object);
  if (!length) {
    return fail(ErrorKind::kDamaged, "a value of type " + object.type_name() + " has no slices");
  }
  TRY_ASSIGN(const Bounds bounds, bounds_of(*length, start, stop, step));
  RenderBudget& budget = interpreter.budget();
  const auto inside = [&](std::int64_t i) {
    return bounds.step > 0 ? i < bounds.stop : i > bounds.stop;
  };
  if (object.is_text()) {
    TRY(budget.spend(object.as_text().size()));
    TRY(budget.spend_items(object.as_text().size()));
    const auto all = characters(object.as_text());
    std::string text;
    for (std::int64_t i = bounds.start; inside(i); i += bounds.step) {
      text += all[static_cast<std::size_t>(i)];
    }
    return budget.text(std::move(text), object.is_safe());
  }
  if (object.kind() == Kind::kObject) {
    const auto& range = static_cast<const Range&>(object.as_object());
    std::int64_t stride = 0;
    if (__builtin_mul_overflow(range.step(), bounds.step, &stride)) {
      return fail(ErrorKind::kDamaged, "the step of a range is beyond 64 bits");
    }
    return Value::object(
        std::make_shared<Range>(range.at(bounds.start), range.at(bounds.stop), stride));
  }
  Items items;
  for (std::int64_t i = bounds.start; inside(i); i += bounds.step) {
    items.push_back(object.items()[static_cast<std::size_t>(i)]);
  }
  return object.kind() == Kind::kTuple ? budget.tuple(std::move(items))
                                       : budget.list(std::move(items));
}

Result<Items> characters_of(RenderBudget& budget, const Value& text) {
  TRY(budget.spend_items(text.as_text().size()));
  Items items;
  for (const std::string_view character : characters(text.as_text())) {
    items.push_back(Value::text(std::string(character)));
  }
  return items;
}

Result<bool> contains(Interpreter& interpreter, const Value& container, const Value& item) {
  RenderBudget& budget = interpreter.budget();
  if (container.is_text()) {
    if (!item.is_text()) {
      return fail(ErrorKind::kDamaged,
                  "'in' of a text needs a text, not a value of type " + item.type_name());
    }
    TRY(budget.spend(container.as_text().size()));
    return find(container.as_text(), item.as_text()) != std::string_view::npos;
  }
  if (container.is_dict()) {
    TRY(check_hashable(item));
    TRY_ASSIGN(const Value* found, find_entry(budget, container, item));
    return found != nullptr;
  }
  while (is_iterator(container)) {
    TRY_ASSIGN(const auto next, container.as_object().next(interpreter));
    if (!next) return false;
    TRY_ASSIGN(const bool same, equal(budget, *next, item));
    if (same) return true;
  }
  TRY_ASSIGN(const Items items, interpreter.iterate(container));
  for (const Value& candidate : items) {
    TRY_ASSIGN(const bool same, equal(budget, candidate, item));
    if (same) return true;
  }
  return false;
}

}  // namespace shardlens::trainer::chat
