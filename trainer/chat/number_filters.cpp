#include <algorithm>
#include <cmath>
#include <cstdio>

#include "trainer/chat/builtins.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"

namespace shardlens::trainer::chat {

namespace {

// An integer from a real one, rounded towards zero; nothing beyond 64 bits and for no number.
std::optional<std::int64_t> truncated(double value) {
  if (!(std::abs(value) < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

Result<Value> int_filter(Interpreter&, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"default", "base"}, 0));
  if (input.is_undefined()) return fail(ErrorKind::kDamaged, input.why());
  const Value fallback = bound[0].value_or(Value::integer(0));
  const Value base = bound[1].value_or(Value::integer(10));
  if (!base.is_whole() || base.as_integer() < 0 || base.as_integer() > 36) return fallback;
  if (input.is_whole()) return Value::integer(input.as_integer());
  std::optional<std::int64_t> value;
  if (input.kind() == Kind::kReal) {
    value = truncated(input.as_real());
  } else if (input.is_text()) {
    value = parse_integer(input.as_text(), static_cast<int>(base.as_integer()));
    const auto real = parse_real(input.as_text());
    if (!value && real) value = truncated(*real);
  }
  return value ? Value::integer(*value) : fallback;
}

Result<Value> float_filter(Interpreter&, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"default"}, 0));
  if (input.is_undefined()) return fail(ErrorKind::kDamaged, input.why());
  if (input.is_number()) return Value::real(input.as_real());
  const auto value = input.is_text() ? parse_real(input.as_text()) : std::nullopt;
  return value ? Value::real(*value) : bound[0].value_or(Value::real(0));
}

Result<Value> abs_filter(Interpreter&, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  if (input.kind() == Kind::kReal) return Value::real(std::abs(input.as_real()));
  if (input.is_whole() && input.as_integer() >= 0) return Value::integer(input.as_integer());
  return negated(input);
}

// Half to even, as Python rounds; the decimal digits are those of the exact value.
Result<Value> rounded(double value, std::int64_t digits) {
  if (!std::isfinite(value) || digits > 320) return Value::real(value);
  if (digits < -320) return Value::real(std::copysign(0.0, value));
  if (digits >= 0) {
    std::string text(800, '\0');
    const int length =
        std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), value);
    text.resize(static_cast<std::size_t>(length));
    return Value::real(parse_real(text).value_or(value));
  }
  const double unit = std::pow(10.0, static_cast<double>(-digits));
  return Value::real(std::nearbyint(value / unit) * unit);
}

Result<Value> rounded_whole(std::int64_t value, std::int64_t digits) {
  if (digits >= 0) return Value::integer(value);
  if (digits < -18) return Value::integer(0);
  std::int64_t unit = 1;
  for (std::int64_t i = 0; i < -digits; ++i) unit *= 10;
  std::int64_t rest = value % unit;
  if (rest < 0) rest += unit;
  std::int64_t below = 0;
  if (__builtin_sub_overflow(value, rest, &below))
    return fail(ErrorKind::kDamaged, "an integer beyond 64 bits");
  const bool odd = (below / unit) % 2 != 0;
  const bool up = rest > unit - rest || (rest == unit - rest && odd);
  if (up && __builtin_add_overflow(below, unit, &below)) {
    return fail(ErrorKind::kDamaged, "an integer beyond 64 bits");
  }
  return Value::integer(below);
}

Result<Value> round_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"precision", "method"}, 0));
  const Value digits = bound[0].value_or(Value::integer(0));
  const Value method = bound[1].value_or(Value::text("common"));
  const bool known =
      method.is_text() &&
      (method.as_text() == "common" || method.as_text() == "ceil" || method.as_text() == "floor");
  if (!known) return fail(ErrorKind::kDamaged, "round: the method is common, ceil or floor");
  if (!input.is_number()) {
    return fail(ErrorKind::kDamaged, "round of a value of type " + input.type_name());
  }
  if (method.as_text() == "common") {
    if (digits.is_none()) return rounded(input.as_real(), 0);
    if (!digits.is_whole()) return fail(ErrorKind::kDamaged, "round: the precision is no integer");
    return input.is_whole() ? rounded_whole(input.as_integer(), digits.as_integer())
                            : rounded(input.as_real(), digits.as_integer());
  }
  RenderBudget& budget = interpreter.budget();
  TRY_ASSIGN(const Value unit, calculate(budget, "**", Value::integer(10), digits));
  TRY_ASSIGN(const Value scaled, calculate(budget, "*", input, unit));
  const double whole =
      method.as_text() == "ceil" ? std::ceil(scaled.as_real()) : std::floor(scaled.as_real());
  const auto value = truncated(whole);
  if (!value) return fail(ErrorKind::kDamaged, "round: a value beyond 64 bits");
  return calculate(budget, "/", scaled.is_whole() ? scaled : Value::integer(*value), unit);
}

constexpr Filter kFilters[] = {
    {"int", int_filter},
    {"float", float_filter},
    {"abs", abs_filter},
    {"round", round_filter},
};

}  // namespace

std::span<const Filter> number_filters() { return kFilters; }

}  // namespace shardlens::trainer::chat
