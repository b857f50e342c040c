// Values as text: Python's str() and repr(), and json.dumps(). One thread for a budget.
#pragma once

#include <optional>
#include <string>

#include "trainer/chat/render_budget.h"

namespace shardlens::trainer::chat {

// What {{ value }} writes.
Result<std::string> shown(RenderBudget& budget, const Value& value);
// As it stands in a list.
Result<std::string> representation(RenderBudget& budget, const Value& value);

struct JsonStyle {
  bool ascii = false;
  bool sorted = false;
  // Without: one line.
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
// Python's json.dumps(): an error for what JSON cannot say.
Result<std::string> to_json(RenderBudget& budget, const Value& value, const JsonStyle& style);

}  // namespace shardlens::trainer::chat
