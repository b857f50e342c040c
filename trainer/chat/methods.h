// The methods of texts, lists and dicts that templates may call. One thread for an interpreter.
#pragma once

#include <span>
#include <string_view>

#include "trainer/chat/object.h"
#include "trainer/chat/render_budget.h"

namespace shardlens::trainer::chat {

struct Method {
  std::string_view name;
  Result<Value> (*body)(Interpreter&, const Value& self, Arguments);
};

std::span<const Method> text_methods();
// Those that ask a text of what kind its characters are, or change their case.
std::span<const Method> text_case_methods();
std::span<const Method> container_methods(Kind kind);

// text.replace(from, to, limit), paid for before it is there.
Result<std::string> replaced(RenderBudget& budget, std::string_view text, std::string_view from,
                             std::string_view to, std::int64_t limit);

}  // namespace shardlens::trainer::chat
