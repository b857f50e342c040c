// A line's messages as a template sees them. Any thread.
#pragma once

#include <string_view>

#include "trainer/chat/value.h"

namespace shardlens::trainer::chat {

// Of JSON text, the order of keys kept. Error kUsage: no JSON, or more deeply nested than a
// conversation is.
Result<Value> messages_from_json(std::string_view text);

}  // namespace shardlens::trainer::chat
