// Answers Python's questions about chat templates: one JSON object per line of the input.
//   {"folder" or "template", "tokens", "messages", "prompt", "variables", "answers", "now"}
// gives {"text", "answers"} or {"error"}. With "plain": the template's own variables only.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/chat/chat_template.h"
#include "trainer/chat/template_parser.h"

namespace {

namespace chat = shardlens::trainer::chat;
using Json = nlohmann::ordered_json;

chat::Entries entries_of(const Json& object) {
  const auto value = chat::value_from_json(object);
  return value && value->is_dict() ? value->entries() : chat::Entries{};
}

chat::Result<Json> answer_plain(const Json& question) {
  TRY_ASSIGN(const chat::ParsedTemplate parsed,
             chat::parse_template(question["template"].get<std::string>()));
  chat::Interpreter interpreter(question.value("now", std::int64_t{0}));
  TRY_ASSIGN(const chat::Rendering rendering,
             interpreter.run(parsed.body, entries_of(question["variables"])));
  return Json{{"text", rendering.text}};
}

chat::Result<Json> answer(const Json& question) {
  if (question.value("plain", false)) return answer_plain(question);
  auto loaded = question.contains("folder")
                    ? chat::ChatTemplate::load(question["folder"].get<std::string>())
                    : chat::ChatTemplate::parse(question["template"].get<std::string>(),
                                                entries_of(question["tokens"]));
  TRY_ASSIGN(const chat::ChatTemplate chat_template, std::move(loaded));
  TRY_ASSIGN(const chat::Value messages, chat::value_from_json(question["messages"]));
  chat::RenderOptions options;
  options.add_generation_prompt = question.value("prompt", false);
  options.now = question.value("now", std::int64_t{0});
  if (question.contains("variables")) options.variables = entries_of(question["variables"]);
  if (!question.value("answers", false)) {
    TRY_ASSIGN(std::string text, chat_template.render(messages, options));
    return Json{{"text", text}};
  }
  TRY_ASSIGN(const chat::ChatText text, chat_template.render_with_answers(messages, options));
  Json ranges = Json::array();
  for (const chat::ByteRange& range : text.answers) ranges.push_back({range.begin, range.end});
  return Json{{"text", text.text}, {"answers", ranges}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto result = answer(Json::parse(line));
    const Json reply = result ? *result : Json{{"error", result.error().message}};
    std::cout << reply.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
  }
}
