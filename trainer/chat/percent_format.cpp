// text % values
#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "trainer/chat/format.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_text.h"

namespace shardlens::trainer::chat {

namespace {

// `%` conversions of one text.
class PercentFormat {
 public:
  PercentFormat(RenderBudget& budget, std::string_view format, const Value& values)
      : budget_(budget), rest_(format), values_(values) {}

  Result<std::string> run() {
    std::string result;
    while (!rest_.empty()) {
      const std::size_t at = std::min(rest_.find('%'), rest_.size());
      result += rest_.substr(0, at);
      rest_.remove_prefix(at);
      if (rest_.empty()) break;
      rest_.remove_prefix(1);
      TRY_ASSIGN(const std::string piece, conversion());
      result += piece;
      TRY(budget_.spend(piece.size()));
    }
    const bool several = values_.kind() == Kind::kTuple;
    // Only a single value that is a mapping or has items may stay unused.
    const bool unused = several ? used_ < values_.items().size() : used_ == 0 && !spare();
    if (unused) return unformattable("has fewer places than values");
    return result;
  }

 private:
  bool spare() const {
    return values_.is_dict() || values_.kind() == Kind::kList || values_.is_undefined() ||
           (values_.kind() == Kind::kObject);
  }

  Result<Value> next_value() {
    if (values_.kind() != Kind::kTuple) {
      if (used_++ > 0) return unformattable("has more places than values");
      return values_;
    }
    if (used_ >= values_.items().size()) return unformattable("has more places than values");
    return values_.items()[used_++];
  }

  Result<std::int64_t> number() {
    if (rest_.starts_with('*')) return unformattable("has a '*', which is not supported");
    std::int64_t value = 0;
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0])) != 0) {
      value = std::min(value * 10 + (rest_[0] - '0'), kLargestWidth + 1);
      rest_.remove_prefix(1);
    }
    if (value > kLargestWidth) return unformattable("has a width beyond 10000");
    return value;
  }

  Result<FormatSpec> spec() {
    FormatSpec spec;
    for (; !rest_.empty() && std::string_view("-+ #0").find(rest_[0]) != std::string_view::npos;
         rest_.remove_prefix(1)) {
      if (rest_[0] == '-') spec.align = '<';
      if (rest_[0] == '+' || (rest_[0] == ' ' && spec.sign == '-')) spec.sign = rest_[0];
      if (rest_[0] == '#') spec.alternate = true;
      if (rest_[0] == '0') spec.zero = true;
    }
    TRY_ASSIGN(spec.width, number());
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      TRY_ASSIGN(spec.precision, number());
    }
    if (spec.align == '<') spec.zero = false;
    if (!rest_.empty() && std::string_view("hlL").find(rest_[0]) != std::string_view::npos) {
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return unformattable("ends within a place");
    spec.type = rest_[0];
    rest_.remove_prefix(1);
    return spec;
  }

  Result<std::string> conversion() {
    std::optional<Value> named;
    if (rest_.starts_with('(')) {
      const std::size_t end = rest_.find(')');
      if (end == std::string_view::npos) return unformattable("has a '(' without ')'");
      if (!values_.is_dict()) return unformattable("needs a dict for a place with a name");
      TRY(budget_.spend(values_.entries().size()));
      const Value* value = values_.find(rest_.substr(1, end - 1));
      if (value == nullptr)
        return unformattable("has a place for '" + std::string(rest_.substr(1, end - 1)) +
                             "', which is missing");
      named = *value;
      rest_.remove_prefix(end + 1);
    }
    TRY_ASSIGN(FormatSpec how, spec());
    if (how.type == '%') return "%";
    Value value;
    if (named) {
      value = *named;
      used_ = 1;
    } else {
      TRY_ASSIGN(value, next_value());
    }
    return set(std::move(value), how);
  }

  Result<std::string> set(Value value, FormatSpec how) {
    if (how.type == 's' || how.type == 'r') {
      TRY_ASSIGN(std::string text,
                 how.type == 's' ? shown(budget_, value) : representation(budget_, value));
      if (how.precision >= 0) text.resize(byte_of_character(text, how.precision));
      return padded(budget_, std::move(text), how, '>');
    }
    if (std::string_view("diuxXoeEfFgG").find(how.type) == std::string_view::npos) {
      return unformattable("has a place of the kind '" + std::string(1, how.type) +
                           "', which is not supported");
    }
    const bool decimal = how.type == 'd' || how.type == 'i' || how.type == 'u';
    if (decimal && value.kind() == Kind::kReal) {
      if (!(std::abs(value.as_real()) < 9e18))
        return unformattable("has no integer for a place of one");
      value = Value::integer(static_cast<std::int64_t>(value.as_real()));
    }
    if (decimal) how.type = 'd';
    TRY_ASSIGN(std::string text, set_number(value, how));
    if (decimal && how.precision > 0)
      return unformattable("has digits for an integer, which is not supported");
    return padded(budget_, std::move(text), how, '>');
  }

  RenderBudget& budget_;
  std::string_view rest_;
  const Value& values_;
  std::size_t used_ = 0;
};

}  // namespace

Result<Value> formatted_percent(RenderBudget& budget, const Value& format, const Value& values) {
  if (format.is_safe()) return unformattable("is marked as safe, which is not supported");
  TRY(budget.spend(format.as_text().size()));
  TRY_ASSIGN(std::string text, PercentFormat(budget, format.as_text(), values).run());
  return Value::text(std::move(text));
}

}  // namespace shardlens::trainer::chat
