// The part of ChatTemplate that finds the assistant's answers in the text.
#include <algorithm>
#include <optional>

#include "trainer/chat/chat_template.h"

namespace shardlens::trainer::chat {

namespace {

bool is_answer(const Value& message) {
  const Value* role = message.find("role");
  return role != nullptr && role->is_text() && role->as_text() == "assistant";
}

// The message with this text as its content, in the shape that its content has; nothing where it
// has none.
std::optional<Value> with_content(const Value& message, const std::string& text) {
  Entries entries = message.entries();
  for (Entry& entry : entries) {
    if (!entry.key.is_text() || entry.key.as_text() != "content") continue;
    if (entry.value.is_text()) {
      entry.value = Value::text(text);
    } else if (entry.value.is_sequence()) {
      entry.value = Value::list({Value::dict(
          {{Value::text("type"), Value::text("text")}, {Value::text("text"), Value::text(text)}})});
    } else {
      return std::nullopt;
    }
    return Value::dict(std::move(entries));
  }
  return std::nullopt;
}

}  // namespace

// Of one conversation.
class AnswerFinder {
 public:
  AnswerFinder(const ChatTemplate& chat, const Items& messages, const RenderOptions& options,
               std::string whole)
      : chat_(chat), messages_(messages), options_(options), whole_(std::move(whole)) {
    options_.add_generation_prompt = false;
    while (whole_.find(mark_) != std::string::npos) mark_ += "Q";
  }

  Result<ChatText> run() {
    ChatText result;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (!is_answer(messages_[i])) continue;
      const std::optional<ByteRange> range = find(i);
      const std::size_t done = result.answers.empty() ? 0 : result.answers.back().end;
      if (!range || range->begin < done || range->end < range->begin) {
        return fail(
            ErrorKind::kDamaged,
            "where the answer of message " + std::to_string(i + 1) +
                " is in the text cannot be told, because the chat template writes it " +
                "differently within the conversation: mark answers with {% generation %} in " +
                "the template, or use data with 'prompt' and 'completion'");
      }
      result.answers.push_back(*range);
    }
    result.text = std::move(whole_);
    return result;
  }

 private:
  // Nothing where the template refuses: a part of a conversation may not be one.
  std::optional<std::string> text_of(const Items& messages, bool prompt) const {
    RenderOptions options = options_;
    options.add_generation_prompt = prompt;
    auto rendering = chat_.run(messages, options);
    if (!rendering) return std::nullopt;
    return std::move(rendering->text);
  }

  Items first(std::size_t count) const {
    return {messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  std::optional<ByteRange> find(std::size_t index) const {
    const auto prompt = text_of(first(index), true);
    const auto answered = text_of(first(index + 1), false);
    const bool begins = prompt && whole_.starts_with(*prompt);
    const bool ends = answered && whole_.starts_with(*answered);
    if (begins && ends) return ByteRange{prompt->size(), answered->size()};
    const auto content = content_of(index);
    if (!content) return std::nullopt;
    ByteRange range = *content;
    if (begins && prompt->size() <= content->begin) range.begin = prompt->size();
    if (ends && answered->size() >= content->end) {
      range.end = answered->size();
      return range;
    }
    const auto end = end_of_turn(index, content->end);
    if (!end) return std::nullopt;
    range.end = *end;
    return range;
  }

  // Where the content of a message stands in the whole text.
  std::optional<ByteRange> content_of(std::size_t index) const {
    const auto marked = with_content(messages_[index], mark_);
    if (!marked) return std::nullopt;
    Items messages = messages_;
    messages[index] = *marked;
    const auto text = text_of(messages, false);
    const std::size_t at = text ? text->find(mark_) : std::string::npos;
    if (at == std::string::npos || text->find(mark_, at + 1) != std::string::npos) {
      return std::nullopt;
    }
    const std::string_view before = std::string_view(*text).substr(0, at);
    const std::string_view after = std::string_view(*text).substr(at + mark_.size());
    const bool fits = whole_.size() >= before.size() + after.size() && whole_.starts_with(before) &&
                      whole_.ends_with(after);
    if (!fits) return std::nullopt;
    return ByteRange{before.size(), whole_.size() - after.size()};
  }

  // The end of the turn whose content ends there.
  std::optional<std::size_t> end_of_turn(std::size_t index, std::size_t content_end) const {
    Items messages = first(index + 1);
    const auto marked = with_content(messages[index], mark_);
    if (!marked) return std::nullopt;
    messages[index] = *marked;
    const auto text = text_of(messages, false);
    const std::size_t at = text ? text->rfind(mark_) : std::string::npos;
    if (at == std::string::npos) return std::nullopt;
    std::string_view ending = std::string_view(*text).substr(at + mark_.size());
    const std::string_view rest = std::string_view(whole_).substr(content_end);
    if (rest.starts_with(ending)) return content_end + ending.size();
    // What only ends a conversation: a special token after the one that ends the turn.
    for (const Entry& token : chat_.special_tokens_) {
      const std::string& text_of_token = token.value.as_text();
      if (text_of_token.empty() || !ending.ends_with(text_of_token)) continue;
      ending.remove_suffix(text_of_token.size());
      if (!ending.empty() && rest.starts_with(ending)) return content_end + ending.size();
      break;
    }
    return std::nullopt;
  }

  const ChatTemplate& chat_;
  const Items& messages_;
  RenderOptions options_;
  std::string whole_;
  // Stands for a content: no text of the conversation, nothing that a template would change.
  std::string mark_ = "QshardlensanswerQ";
};

Result<ChatText> ChatTemplate::render_with_answers(const Value& messages,
                                                   const RenderOptions& options) const {
  TRY_ASSIGN(const Items all, messages_of(messages));
  RenderOptions plain = options;
  plain.add_generation_prompt = false;
  TRY_ASSIGN(Rendering rendering, run(all, plain));
  if (!template_->marks_answers) {
    return AnswerFinder(*this, all, plain, std::move(rendering.text)).run();
  }
  if (rendering.generated_elsewhere) {
    return fail(ErrorKind::kDamaged,
                "the chat template marks answers with {% generation %} inside of "
                "a macro or a block, where their place is not known");
  }
  return ChatText{std::move(rendering.text), std::move(rendering.generated)};
}

}  // namespace shardlens::trainer::chat
