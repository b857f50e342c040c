// The methods of texts, lists and dicts that templates may call. One thread for an interpreter.
#pragma once

#include <span>
#include <string_view>

#include "trainer/chat/object.h"

namespace shardlens::trainer::chat {

struct Method {
  std::string_view name;
  Result<Value> (*body)(Interpreter&, const Value& self, Arguments);
};

std::span<const Method> text_methods();
// Those that ask a text of what kind its characters are, or change their case.
std::span<const Method> text_case_methods();
std::span<const Method> container_methods(Kind kind);

}  // namespace shardlens::trainer::chat
