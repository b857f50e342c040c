#include "trainer/conversations.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "trace/huggingface/find_model.h"
#include "trainer/chat/chat_template.h"
#include "trainer/chat/messages.h"
#include "trainer/text/chatml.h"
#include "trainer/text/content_hash.h"

namespace shardlens::trainer {

namespace {

// 26 July 2024, the date that Llama 3's templates write where they are told none. A template that
// asks for today's would give other texts tomorrow.
constexpr std::int64_t kDateOfTexts = 1721995200;

// Of the files that make the text, whether or not they are there.
std::string fingerprint_of(const std::filesystem::path& folder) {
  ContentHash hash;
  for (const char* name :
       {"chat_template.jinja", "tokenizer_config.json", "special_tokens_map.json"}) {
    // Opening a pipe would wait for its writer.
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(folder / name, error);
    std::ifstream file(is_file ? folder / name : std::filesystem::path(), std::ios::binary);
    hash.update_field(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return "template " + hexadecimal(hash.digest());
}

trace::Result<ConversationText> render_by(const chat::ChatTemplate& chat_template,
                                          std::string_view messages) {
  TRY_ASSIGN(const chat::Value value, chat::messages_from_json(messages));
  chat::RenderOptions options;
  options.now = kDateOfTexts;
  TRY_ASSIGN(chat::ChatText rendered, chat_template.render_with_answers(value, options));
  ConversationText conversation{std::move(rendered.text), {}};
  for (const chat::ByteRange& answer : rendered.answers) {
    conversation.answers.emplace_back(answer.begin, answer.end);
  }
  return conversation;
}

}  // namespace

Conversations conversations_of(const trace::Settings& settings) {
  if (!trace::is_model_folder(settings.model)) {
    return {render_chatml, std::string(kChatmlFingerprint)};
  }
  const auto loaded = std::make_shared<const trace::Result<chat::ChatTemplate>>(
      chat::ChatTemplate::load(settings.model));
  return {[loaded](std::string_view messages) -> trace::Result<ConversationText> {
            if (!*loaded) return tl::make_unexpected(loaded->error());
            return render_by(**loaded, messages);
          },
          fingerprint_of(settings.model)};
}

}  // namespace shardlens::trainer
