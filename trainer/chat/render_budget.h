// How much work and memory one rendering may take, so that a hostile template ends. One thread.
#pragma once

#include <cstddef>

#include "trainer/chat/value.h"

namespace shardlens::trainer::chat {

// A unit is a byte of text, made or looked at. What a rendering has unless told otherwise: never
// more memory than this, and about a second of work.
inline constexpr std::size_t kRenderUnits = std::size_t{256} << 20;
// Of the template, each time it is evaluated: two million of them. A conversation of a thousand
// messages takes the longest templates in use some hundred thousand.
inline constexpr std::size_t kUnitsPerNode = 128;
// Of a container.
inline constexpr std::size_t kUnitsPerItem = 32;
// Levels of expressions and blocks within each other, those of called macros included: each takes
// some frames of the stack.
inline constexpr int kDeepestEvaluation = 400;

class RenderBudget {
 public:
  explicit RenderBudget(std::size_t units = kRenderUnits) : left_(units) {}

  Result<void> spend(std::size_t units) {
    if (units > left_) {
      left_ = 0;
      return fail(ErrorKind::kDamaged, "it takes more work or memory than any chat needs");
    }
    left_ -= units;
    return {};
  }
  Result<void> spend_items(std::size_t count) {
    return spend(count > kRenderUnits ? count : count * kUnitsPerItem);
  }

  // Containers, paid for and not nested too deeply.
  Result<Value> list(Items items) { return checked(items.size(), Value::list(std::move(items))); }
  Result<Value> tuple(Items items) { return checked(items.size(), Value::tuple(std::move(items))); }
  Result<Value> dict(Entries entries) {
    return checked(entries.size() * 2, Value::dict(std::move(entries)));
  }
  Result<Value> text(std::string text, bool safe = false) {
    TRY(spend(text.size()));
    return Value::text(std::move(text), safe);
  }
  Result<Value> object(std::shared_ptr<Object> object) {
    return checked(1, Value::object(std::move(object)));
  }

 private:
  Result<Value> checked(std::size_t count, Value value) {
    TRY(spend_items(count));
    if (value.depth() > kDeepestValue) {
      return fail(ErrorKind::kDamaged, "values are nested more than 100 deep");
    }
    return value;
  }

  std::size_t left_;
};

}  // namespace shardlens::trainer::chat
