#include "trainer/text/chatml.h"

#include <simdjson.h>

namespace shardlens::trainer {

trace::Result<ConversationText> render_chatml(std::string_view messages) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (parser.parse(messages.data(), messages.size()).get(list) != simdjson::SUCCESS) {
    return trace::fail(trace::ErrorKind::kUsage, "\"messages\" is not a list");
  }
  ConversationText conversation;
  for (const simdjson::dom::element message : list) {
    std::string_view role, content;
    if (message["role"].get(role) != simdjson::SUCCESS ||
        message["content"].get(content) != simdjson::SUCCESS) {
      return trace::fail(trace::ErrorKind::kUsage,
                         "a message has no string \"role\" or no string \"content\"");
    }
    std::string& text = conversation.text;
    text.append("<|im_start|>").append(role).append("\n");
    const std::size_t begin = text.size();
    text.append(content).append("<|im_end|>");
    if (role == "assistant") conversation.answers.emplace_back(begin, text.size());
    text += '\n';
  }
  return conversation;
}

}  // namespace shardlens::trainer
