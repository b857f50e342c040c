#include "trainer/chat/value_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trainer/chat/object.h"

namespace shardlens::trainer::chat {

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBoolean:
    case Kind::kInteger:
      return value.as_integer() != 0;
    case Kind::kReal:
      return value.as_real() != 0;
    case Kind::kText:
      return !value.as_text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.items().empty();
    case Kind::kDict:
      return !value.entries().empty();
    case Kind::kObject:
      return value.as_object().length().value_or(1) != 0;
  }
  return true;
}

namespace {

int order_of_numbers(const Value& left, const Value& right) {
  if (left.is_whole() && right.is_whole()) {
    const std::int64_t a = left.as_integer();
    const std::int64_t b = right.as_integer();
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const double a = left.as_real();
  const double b = right.as_real();
  if (std::isnan(a) || std::isnan(b)) return kUnordered;
  // Beyond 2^53 an integer is not what as_real() says; Python compares exactly.
  if (a == b && left.is_whole() != right.is_whole() && std::abs(a) < 9.2e18) {
    const std::int64_t x = left.is_whole() ? left.as_integer() : static_cast<std::int64_t>(a);
    const std::int64_t y = right.is_whole() ? right.as_integer() : static_cast<std::int64_t>(b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

Result<bool> equal_items(RenderBudget& budget, const Items& left, const Items& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    TRY_ASSIGN(const bool same, equal(budget, left[i], right[i]));
    if (!same) return false;
  }
  return true;
}

Result<bool> equal_dicts(RenderBudget& budget, const Value& left, const Value& right) {
  if (left.entries().size() != right.entries().size()) return false;
  for (const Entry& entry : left.entries()) {
    TRY_ASSIGN(const Value* other, find_entry(budget, right, entry.key));
    if (other == nullptr) return false;
    TRY_ASSIGN(const bool same, equal(budget, entry.value, *other));
    if (!same) return false;
  }
  return true;
}

}  // namespace

Result<bool> equal(RenderBudget& budget, const Value& left, const Value& right) {
  TRY(budget.spend_items(1));
  if (left.is_number() && right.is_number()) return order_of_numbers(left, right) == 0;
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::kText:
      TRY(budget.spend(std::min(left.as_text().size(), right.as_text().size())));
      return left.as_text() == right.as_text();
    case Kind::kList:
    case Kind::kTuple:
      return equal_items(budget, left.items(), right.items());
    case Kind::kDict:
      return equal_dicts(budget, left, right);
    case Kind::kObject:
      return left.same_as(right);
    default:
      return true;
  }
}

Result<int> compare(RenderBudget& budget, const Value& left, const Value& right, const char* sign) {
  TRY(budget.spend_items(1));
  if (left.is_number() && right.is_number()) return order_of_numbers(left, right);
  if (left.is_text() && right.is_text()) {
    TRY(budget.spend(std::min(left.as_text().size(), right.as_text().size())));
    // UTF-8 sorts as its code points do.
    return std::clamp(left.as_text().compare(right.as_text()), -1, 1);
  }
  if (left.is_undefined()) return fail(ErrorKind::kDamaged, left.why());
  if (right.is_undefined()) return fail(ErrorKind::kDamaged, right.why());
  if (!left.is_sequence() || left.kind() != right.kind()) {
    return fail(ErrorKind::kDamaged, std::string("'") + sign + "' not supported between " +
                                         left.type_name() + " and " + right.type_name());
  }
  const std::size_t shared = std::min(left.items().size(), right.items().size());
  for (std::size_t i = 0; i < shared; ++i) {
    TRY_ASSIGN(const bool same, equal(budget, left.items()[i], right.items()[i]));
    if (!same) return compare(budget, left.items()[i], right.items()[i], sign);
  }
  return left.items().size() < right.items().size()   ? -1
         : left.items().size() > right.items().size() ? 1
                                                      : 0;
}

Result<std::vector<std::size_t>> sorted_order(RenderBudget& budget, const std::vector<Items>& keys,
                                              bool reverse) {
  std::vector<Value> compared;
  for (const Items& key : keys) compared.push_back(Value::list(key));
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // A comparison can fail, so no std::stable_sort; merged from the bottom up, stable.
  std::vector<std::size_t> merged(order.size());
  for (std::size_t width = 1; width < order.size(); width *= 2) {
    for (std::size_t begin = 0; begin < order.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, order.size());
      const std::size_t end = std::min(begin + 2 * width, order.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t to = begin; to < end; ++to) {
        bool take_right = left == middle;
        if (!take_right && right < end) {
          const Value& a = compared[order[reverse ? left : right]];
          const Value& b = compared[order[reverse ? right : left]];
          TRY_ASSIGN(const int sign, compare(budget, a, b, "<"));
          take_right = sign < 0;
        }
        merged[to] = take_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  return order;
}

Result<void> check_hashable(const Value& value) {
  if (value.kind() == Kind::kList || value.kind() == Kind::kDict) {
    return fail(ErrorKind::kDamaged,
                "a " + value.type_name() + " cannot be a key: unhashable type");
  }
  if (value.kind() == Kind::kTuple) {
    for (const Value& item : value.items()) TRY(check_hashable(item));
  }
  return {};
}

Result<const Value*> find_entry(RenderBudget& budget, const Value& dict, const Value& key) {
  for (const Entry& entry : dict.entries()) {
    TRY_ASSIGN(const bool same, equal(budget, entry.key, key));
    if (same) return &entry.value;
  }
  return nullptr;
}

Result<void> set_entry(RenderBudget& budget, Entries& entries, Value key, Value value) {
  TRY(check_hashable(key));
  for (Entry& entry : entries) {
    TRY_ASSIGN(const bool same, equal(budget, entry.key, key));
    if (!same) continue;
    entry.value = std::move(value);
    return {};
  }
  entries.push_back({std::move(key), std::move(value)});
  return {};
}

}  // namespace shardlens::trainer::chat
