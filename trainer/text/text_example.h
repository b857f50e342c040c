// One thing to learn from, as a line of JSON Lines says it. Plain values, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace shardlens::trainer {

enum class TextKind : std::uint32_t {
  kPlain,       // {"text"}, and files of text
  kCompletion,  // {"prompt", "completion"}
  kChat,        // {"messages"}
  kLabeled,     // {"text", "label"}
};
std::string_view to_string(TextKind kind);  // its keys: "prompt and completion"

// A class, or its name.
using TextLabel = std::variant<std::int64_t, std::string>;

struct TextExample {
  TextKind kind = TextKind::kPlain;
  std::string text;                // kPlain, kLabeled
  std::string prompt, completion;  // kCompletion
  std::string messages;            // kChat: the JSON array
  TextLabel label;                 // kLabeled
};

}  // namespace shardlens::trainer
