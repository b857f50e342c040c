// The part of operators that calculates and compares.
#include <algorithm>
#include <cmath>
#include <limits>

#include "trainer/chat/format.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

tl::unexpected<Error> too_large() { return fail(ErrorKind::kDamaged, "an integer beyond 64 bits"); }

tl::unexpected<Error> division_by_zero() { return fail(ErrorKind::kDamaged, "division by zero"); }

Result<Value> power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return division_by_zero();
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  std::int64_t result = 1;
  // Beyond 64 rounds only 0, 1 and -1 stay small.
  if (base == 0 || base == 1) return Value::integer(exponent == 0 ? 1 : base);
  if (base == -1) return Value::integer(exponent % 2 == 0 ? 1 : -1);
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return too_large();
  }
  return Value::integer(result);
}

Result<Value> calculate_whole(std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (sign == "+") {
    if (__builtin_add_overflow(a, b, &result)) return too_large();
  } else if (sign == "-") {
    if (__builtin_sub_overflow(a, b, &result)) return too_large();
  } else if (sign == "*") {
    if (__builtin_mul_overflow(a, b, &result)) return too_large();
  } else if (sign == "**") {
    return power(a, b);
  } else {
    if (b == 0) return division_by_zero();
    if (sign == "/") return Value::real(static_cast<double>(a) / static_cast<double>(b));
    if (a == kSmallest && b == -1)
      return sign == "%" ? Result<Value>(Value::integer(0)) : too_large();
    // Rounded down, not towards zero.
    const bool down = a % b != 0 && (a % b < 0) != (b < 0);
    result = sign == "%" ? a % b + (down ? b : 0) : a / b - (down ? 1 : 0);
  }
  return Value::integer(result);
}

// As float_divmod of CPython.
Result<Value> divide_real(std::string_view sign, double a, double b) {
  if (b == 0) return division_by_zero();
  if (sign == "/") return Value::real(a / b);
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1.0;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (sign == "%") return Value::real(rest);
  if (quotient == 0) return Value::real(std::copysign(0.0, a / b));
  const double floor = std::floor(quotient);
  return Value::real(quotient - floor > 0.5 ? floor + 1.0 : floor);
}

Result<Value> calculate_real(std::string_view sign, double a, double b) {
  if (sign == "+") return Value::real(a + b);
  if (sign == "-") return Value::real(a - b);
  if (sign == "*") return Value::real(a * b);
  if (sign != "**") return divide_real(sign, a, b);
  if (a == 0 && b < 0) return division_by_zero();
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    return fail(ErrorKind::kDamaged, "a root of a negative number");
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return too_large();
  return Value::real(result);
}

Result<Value> joined_texts(RenderBudget& budget, const Value& left, const Value& right) {
  const bool safe = left.is_safe() || right.is_safe();
  const auto part = [&](const Value& value) {
    return safe && !value.is_safe() ? escaped(value.as_text()) : value.as_text();
  };
  TRY(budget.spend(left.as_text().size() + right.as_text().size()));
  return budget.text(part(left) + part(right), safe);
}

Result<Value> joined_sequences(RenderBudget& budget, const Value& left, const Value& right) {
  TRY(budget.spend_items(left.items().size() + right.items().size()));
  Items items = left.items();
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.kind() == Kind::kTuple ? budget.tuple(std::move(items))
                                     : budget.list(std::move(items));
}

Result<Value> repeated(RenderBudget& budget, const Value& value, std::int64_t count) {
  const auto times = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
  const std::size_t size = value.is_text() ? value.as_text().size() : value.items().size();
  if (size > 0 && times > kRenderUnits / size)
    return budget.spend(kRenderUnits + 1).map([] { return Value(); });
  TRY(value.is_text() ? budget.spend(size * times) : budget.spend_items(size * times));
  if (value.is_text()) {
    const std::string& once = value.as_text();
    std::string text;
    if (size == 1) {
      text.assign(times, once[0]);
    } else {
      text.reserve(size * times);
      for (std::size_t i = 0; size > 0 && i < times; ++i) text += once;
    }
    return Value::text(std::move(text), value.is_safe());
  }
  Items items;
  for (std::size_t i = 0; size > 0 && i < times; ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return value.kind() == Kind::kTuple ? Value::tuple(std::move(items))
                                      : Value::list(std::move(items));
}

bool repeats(const Value& value) { return value.is_text() || value.is_sequence(); }

}  // namespace

Result<Value> calculate(RenderBudget& budget, std::string_view sign, const Value& left,
                        const Value& right) {
  if (sign == "%" && left.is_text()) return formatted_percent(budget, left, right);
  for (const Value* side : {&left, &right}) {
    if (side->is_undefined()) return fail(ErrorKind::kDamaged, side->why());
  }
  if (left.is_whole() && right.is_whole()) {
    return calculate_whole(sign, left.as_integer(), right.as_integer());
  }
  if (left.is_number() && right.is_number()) {
    return calculate_real(sign, left.as_real(), right.as_real());
  }
  if (sign == "+" && left.is_text() && right.is_text()) return joined_texts(budget, left, right);
  if (sign == "+" && left.is_sequence() && left.kind() == right.kind()) {
    return joined_sequences(budget, left, right);
  }
  if (sign == "*" && repeats(left) && right.is_whole()) {
    return repeated(budget, left, right.as_integer());
  }
  if (sign == "*" && repeats(right) && left.is_whole()) {
    return repeated(budget, right, left.as_integer());
  }
  return fail(ErrorKind::kDamaged, "unsupported types for '" + std::string(sign) +
                                       "': " + left.type_name() + " and " + right.type_name());
}

Result<Value> negated(const Value& value) {
  if (value.kind() == Kind::kReal) return Value::real(-value.as_real());
  if (value.is_undefined()) return fail(ErrorKind::kDamaged, value.why());
  if (!value.is_whole()) {
    return fail(ErrorKind::kDamaged, "a value of type " + value.type_name() + " has no negative");
  }
  if (value.as_integer() == kSmallest) return too_large();
  return Value::integer(-value.as_integer());
}

Result<Value> affirmed(const Value& value) {
  if (value.kind() == Kind::kReal) return value;
  if (value.is_undefined()) return fail(ErrorKind::kDamaged, value.why());
  if (value.is_whole()) return Value::integer(value.as_integer());
  return fail(ErrorKind::kDamaged, "'+' before a value of type " + value.type_name());
}

Result<bool> holds(Interpreter& interpreter, std::string_view sign, const Value& left,
                   const Value& right) {
  RenderBudget& budget = interpreter.budget();
  if (sign == "in") return contains(interpreter, right, left);
  if (sign == "not in") {
    TRY_ASSIGN(const bool found, contains(interpreter, right, left));
    return !found;
  }
  if (sign == "==" || sign == "!=") {
    TRY_ASSIGN(const bool same, equal(budget, left, right));
    return same == (sign == "==");
  }
  TRY_ASSIGN(const int order, compare(budget, left, right, std::string(sign).c_str()));
  if (order == kUnordered) return false;
  if (sign == "<") return order < 0;
  if (sign == "<=") return order <= 0;
  return sign == ">" ? order > 0 : order >= 0;
}

}  // namespace shardlens::trainer::chat
