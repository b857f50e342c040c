// A model's own chat template, which turns a conversation into the text the model was trained on.
// Immutable once loaded; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/chat/interpreter.h"
#include "trainer/chat/template_parser.h"

namespace shardlens::trainer::chat {

struct RenderOptions {
  // Ends the text with what opens an answer of the assistant.
  bool add_generation_prompt = false;
  // What strftime_now() of a template formats, seconds since 1970 of local time: an input, so that
  // the same data gives the same text on every rank and every day.
  std::int64_t now = 0;
  // How much work and memory it may take; see render_budget.h.
  std::size_t units = kRenderUnits;
  // More variables for the template, as the keyword arguments of apply_chat_template.
  Entries variables;
};

struct ChatText {
  std::string text;
  // The assistant's answers, in order and apart from each other.
  std::vector<ByteRange> answers;
};

class ChatTemplate {
 public:
  // Of a model folder: chat_template.jinja, or else the chat_template of tokenizer_config.json (of
  // several the one named "default"), with the special tokens of tokenizer_config.json and, for
  // those that it lacks, of special_tokens_map.json. As transformers 5 does.
  static Result<ChatTemplate> load(const std::filesystem::path& folder);
  // `special_tokens`: bos_token and so on, variables of the template.
  static Result<ChatTemplate> parse(std::string_view source, Entries special_tokens);

  // `messages` is a list of dicts, as they stand in the file. The text is byte by byte that of
  // tokenizer.apply_chat_template(messages, tokenize=False, …). An error names the line of the
  // template and the reason; what a template says with raise_exception() is in it.
  Result<std::string> render(const Value& messages, const RenderOptions& options = {}) const;

  // The text of the whole conversation and where the assistant's answers are in it, for a loss on
  // answers only.
  //
  // A template that marks them with {% generation %} decides itself, as in transformers'
  // return_assistant_tokens_mask, on which TRL's assistant_only_loss rests. Few models have such a
  // template. Without it an answer is what TRL trains on of a prompt and its completion: from the
  // end of the text of all messages before it with the generation prompt to the end of the text
  // that includes it. The token that ends a turn is part of the answer, because the model must
  // learn to stop.
  //
  // Both texts must be prefixes of the whole. Templates that say earlier turns differently from the
  // last (Qwen3 leaves their reasoning out, Phi-3 ends the last turn only) break this. Then the
  // place of the message's content is found as axolotl does it, by rendering the conversation with
  // another content in its place, and the end of the turn is what follows the content where the
  // conversation ends there, if need be without a special token at the very end. Where this does
  // not fit either, the place is not known for sure: an error, which says which message.
  Result<ChatText> render_with_answers(const Value& messages,
                                       const RenderOptions& options = {}) const;

 private:
  ChatTemplate(std::shared_ptr<const ParsedTemplate> parsed, Entries special_tokens)
      : template_(std::move(parsed)), special_tokens_(std::move(special_tokens)) {}

  friend class AnswerFinder;
  static Result<Items> messages_of(const Value& messages);
  Result<Rendering> run(const Items& messages, const RenderOptions& options) const;

  std::shared_ptr<const ParsedTemplate> template_;
  Entries special_tokens_;
};

}  // namespace shardlens::trainer::chat
