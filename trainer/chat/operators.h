// What the operators of a template's expressions do: Python's arithmetic, membership, attributes,
// indexes and slices. One thread for a budget.
#pragma once

#include <optional>
#include <string_view>

#include "trainer/chat/object.h"
#include "trainer/chat/render_budget.h"

namespace shardlens::trainer::chat {

// + - * / // % **; `%` of a text formats it.
Result<Value> calculate(RenderBudget& budget, std::string_view sign, const Value& left,
                        const Value& right);
Result<Value> negated(const Value& value);
Result<Value> affirmed(const Value& value);

// == != < <= > >= in "not in"
Result<bool> holds(Interpreter& interpreter, std::string_view sign, const Value& left,
                   const Value& right);
Result<bool> contains(Interpreter& interpreter, const Value& container, const Value& item);

// object.name: an attribute, else an item; undefined where there is neither.
Result<Value> attribute_of(Interpreter& interpreter, const Value& object, std::string_view name);
// object[index]: an item, else an attribute; undefined where there is neither.
Result<Value> item_of(Interpreter& interpreter, const Value& object, const Value& index);
// Bounds are None where they are missing.
Result<Value> slice_of(Interpreter& interpreter, const Value& object, const Value& start,
                       const Value& stop, const Value& step);

// Its characters, each a text.
Result<Items> characters_of(RenderBudget& budget, const Value& text);

// A method of a text, list, dict or number bound to it; absent: it has no such method.
std::optional<Value> method_of(const Value& receiver, std::string_view name);

}  // namespace shardlens::trainer::chat
