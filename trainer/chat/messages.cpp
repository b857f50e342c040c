#include "trainer/chat/messages.h"

#include <nlohmann/json.hpp>

namespace shardlens::trainer::chat {

namespace {

constexpr int kDeepest = 64;

}  // namespace

Result<Value> messages_from_json(std::string_view text) {
  bool too_deep = false;
  const auto limit = [&](int depth, nlohmann::ordered_json::parse_event_t, auto&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  const auto json = nlohmann::ordered_json::parse(text, limit, /*allow_exceptions=*/false);
  if (too_deep || json.is_discarded()) {
    return trace::fail(
        trace::ErrorKind::kUsage,
        too_deep ? "its messages are nested more than 64 levels deep" : "its messages are no JSON");
  }
  return value_from_json(json);
}

}  // namespace shardlens::trainer::chat
