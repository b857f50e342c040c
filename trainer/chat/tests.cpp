// What follows `is` in a template.
#include <algorithm>

#include "trainer/chat/builtins.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

namespace {

template <bool (*kQuestion)(const Value&)>
Result<bool> about(Interpreter&, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  return kQuestion(input);
}

bool is_object(const Value& value) { return value.kind() == Kind::kObject; }

bool sequence(const Value& value) {
  return value.is_undefined() || value.is_text() || value.is_sequence() || value.is_dict() ||
         (is_object(value) && value.as_object().subscriptable());
}

bool iterable(const Value& value) {
  return sequence(value) || (is_object(value) && value.as_object().iterable());
}

bool callable(const Value& value) {
  return value.is_undefined() || (is_object(value) && value.as_object().callable());
}

bool is_true(const Value& value) { return value.kind() == Kind::kBoolean && value.as_boolean(); }
bool is_false(const Value& value) { return value.kind() == Kind::kBoolean && !value.as_boolean(); }

template <bool (*kQuestion)(std::string_view)>
Result<bool> about_text(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY_ASSIGN(const std::string text, interpreter.shown(input));
  return kQuestion(text);
}

Result<bool> remainder_is(Interpreter& interpreter, const Value& input, const Value& divisor,
                          std::int64_t wanted) {
  TRY_ASSIGN(const Value rest, calculate(interpreter.budget(), "%", input, divisor));
  return equal(interpreter.budget(), rest, Value::integer(wanted));
}

template <std::int64_t kRest>
Result<bool> parity(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  return remainder_is(interpreter, input, Value::integer(2), kRest);
}

Result<bool> divisible(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"num"}, 1));
  return remainder_is(interpreter, input, *bound[0], 0);
}

Result<bool> same(Interpreter&, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"other"}, 1));
  return input.same_as(*bound[0]);
}

Result<bool> inside(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"seq"}, 1));
  return contains(interpreter, *bound[0], input);
}

// Signs are taken from a table, because a template argument can be no literal.
enum Sign { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
constexpr std::string_view kSigns[] = {"==", "!=", "<", "<=", ">", ">="};

template <Sign kSign>
Result<bool> compared(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {""}, 1));
  return holds(interpreter, kSigns[kSign], input, *bound[0]);
}

template <bool kFilters>
Result<bool> known(Interpreter&, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY(check_hashable(input));
  if (!input.is_text()) return false;
  return kFilters ? filter_named(input.as_text()) != nullptr
                  : test_named(input.as_text()) != nullptr;
}

constexpr Test kTests[] = {
    {"defined", about<[](const Value& v) { return !v.is_undefined(); }>},
    {"undefined", about<[](const Value& v) { return v.is_undefined(); }>},
    {"none", about<[](const Value& v) { return v.is_none(); }>},
    {"string", about<[](const Value& v) { return v.is_text(); }>},
    {"number", about<[](const Value& v) { return v.is_number(); }>},
    {"integer", about<[](const Value& v) { return v.kind() == Kind::kInteger; }>},
    {"float", about<[](const Value& v) { return v.kind() == Kind::kReal; }>},
    {"boolean", about<[](const Value& v) { return v.kind() == Kind::kBoolean; }>},
    {"mapping", about<[](const Value& v) { return v.is_dict(); }>},
    {"escaped", about<[](const Value& v) { return v.is_safe(); }>},
    {"true", about<is_true>},
    {"false", about<is_false>},
    {"sequence", about<sequence>},
    {"iterable", about<iterable>},
    {"callable", about<callable>},
    {"lower", about_text<is_lower>},
    {"upper", about_text<is_upper>},
    {"odd", parity<1>},
    {"even", parity<0>},
    {"divisibleby", divisible},
    {"sameas", same},
    {"in", inside},
    {"filter", known<true>},
    {"test", known<false>},
    {"==", compared<kEqual>},
    {"eq", compared<kEqual>},
    {"equalto", compared<kEqual>},
    {"!=", compared<kNotEqual>},
    {"ne", compared<kNotEqual>},
    {"<", compared<kLess>},
    {"lt", compared<kLess>},
    {"lessthan", compared<kLess>},
    {"<=", compared<kLessEqual>},
    {"le", compared<kLessEqual>},
    {">", compared<kGreater>},
    {"gt", compared<kGreater>},
    {"greaterthan", compared<kGreater>},
    {">=", compared<kGreaterEqual>},
    {"ge", compared<kGreaterEqual>},
};

}  // namespace

const Test* test_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTests), std::end(kTests),
                                   [&](const Test& test) { return test.name == name; });
  return found == std::end(kTests) ? nullptr : found;
}

}  // namespace shardlens::trainer::chat
