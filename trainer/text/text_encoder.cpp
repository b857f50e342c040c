#include "trainer/text/text_encoder.h"

#include <algorithm>

namespace shardlens::trainer {

namespace {

tl::unexpected<trace::Error> bad(std::string what) {
  return trace::fail(trace::ErrorKind::kUsage, std::move(what));
}

// Found by looking: no tokenizer says what it puts around a text.
std::size_t tokens_behind(const Tokenizer& tokenizer) {
  std::vector<TokenId> with, without;
  tokenizer.encode("a", true, with);
  tokenizer.encode("a", false, without);
  const auto found = std::ranges::search(with, without);
  return without.empty() ? 0 : static_cast<std::size_t>(with.end() - found.end());
}

std::size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::string known_names(const std::map<std::string, std::int64_t>& numbers) {
  std::string text;
  for (const auto& [name, number] : numbers) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

TextEncoder::TextEncoder(const Tokenizer& tokenizer, const EncodingOptions& options,
                         TokenWriter& writer)
    : tokenizer_(tokenizer), options_(options), writer_(writer), tail_(tokens_behind(tokenizer)) {}

trace::Result<void> TextEncoder::add(const TextExample& example) {
  if (writer_.examples() == 0) {
    writer_.set_kind(example.kind);
    // A language model's text may be cut anywhere.
    if (example.kind == TextKind::kLabeled) {
      writer_.set_tail_tokens(static_cast<std::int64_t>(tail_));
    }
  }
  switch (example.kind) {
    case TextKind::kPlain:
      return add_document(example.text);
    case TextKind::kCompletion:
      return add_completion(example);
    case TextKind::kChat:
      return add_conversation(example);
    case TextKind::kLabeled:
      return add_labeled(example);
  }
  return {};
}

void TextEncoder::end_with_end_of_text(std::vector<TokenId>& tokens) const {
  const auto end = tokenizer_.end_of_text();
  if (end && (tokens.empty() || tokens.back() != *end)) tokens.push_back(*end);
}

trace::Result<void> TextEncoder::add_document(const std::string& text) {
  if (text.empty()) return bad("the text is empty");
  tokens_.clear();
  tokenizer_.encode(text, true, tokens_);
  end_with_end_of_text(tokens_);
  TRY(writer_.append(tokens_));
  writer_.end_example();
  return {};
}

trace::Result<void> TextEncoder::add_piece(std::string_view text) {
  tokens_.clear();
  tokenizer_.encode(text, true, tokens_);
  return writer_.append(tokens_);
}

trace::Result<void> TextEncoder::end_document() {
  tokens_.clear();
  end_with_end_of_text(tokens_);
  TRY(writer_.append(tokens_));
  writer_.end_example();
  return {};
}

trace::Result<void> TextEncoder::add_completion(const TextExample& example) {
  if (example.completion.empty()) return bad("\"completion\" is empty");
  tokens_.clear();
  others_.clear();
  tokenizer_.encode(example.prompt + example.completion, true, tokens_);
  tokenizer_.encode(example.prompt, true, others_);
  others_.resize(others_.size() - std::min(tail_, others_.size()));
  const std::size_t prompt = std::min(others_.size(), tokens_.size());
  if (common_prefix(others_, tokens_) < others_.size()) ++writer_.counts().crossed_boundaries;
  end_with_end_of_text(tokens_);
  const std::span<const TokenId> tokens(tokens_);
  TRY(writer_.append(tokens.first(prompt), !options_.completion_only_loss));
  TRY(writer_.append(tokens.subspan(prompt)));
  writer_.end_example();
  return {};
}

// How many of tokens_, which begin with this text, end in it.
std::size_t TextEncoder::tokens_ended_by(std::string_view text) {
  others_.clear();
  tokenizer_.encode(text, false, others_);
  return common_prefix(others_, tokens_);
}

trace::Result<void> TextEncoder::add_conversation(const TextExample& example) {
  if (!options_.render) {
    return bad("has messages, but the model has no chat template to write them with");
  }
  TRY_ASSIGN(const ConversationText conversation, options_.render(example.messages));
  if (conversation.text.empty()) return bad("its messages are rendered as nothing");
  tokens_.clear();
  tokenizer_.encode(conversation.text, false, tokens_);
  const std::span<const TokenId> tokens(tokens_);
  std::size_t done = 0;
  if (options_.completion_only_loss) {
    const std::string_view text = conversation.text;
    std::vector<std::pair<std::size_t, std::size_t>> answers;
    for (const auto& [begin, end] : conversation.answers) {
      answers.emplace_back(tokens_ended_by(text.substr(0, begin)),
                           tokens_ended_by(text.substr(0, end)));
    }
    for (const auto& [begin, end] : answers) {
      if (begin < done || end <= begin) continue;
      TRY(writer_.append(tokens.subspan(done, begin - done), false));
      TRY(writer_.append(tokens.subspan(begin, end - begin)));
      done = end;
    }
  }
  TRY(writer_.append(tokens.subspan(done), !options_.completion_only_loss));
  writer_.end_example();
  return {};
}

trace::Result<std::int64_t> TextEncoder::number_of(const TextLabel& label) {
  const bool is_name = std::holds_alternative<std::string>(label);
  if (labels_are_names_.value_or(is_name) != is_name) {
    return bad(std::string("its label is ") + (is_name ? "a name" : "a number") +
               ", those before are " + (is_name ? "numbers" : "names"));
  }
  if (!is_name) return std::get<std::int64_t>(label);
  const auto& name = std::get<std::string>(label);
  if (options_.label_numbers.empty()) {
    return seen_names_.try_emplace(name, static_cast<std::int64_t>(seen_names_.size()))
        .first->second;
  }
  const auto known = options_.label_numbers.find(name);
  if (known != options_.label_numbers.end()) return known->second;
  return bad("the label \"" + name + "\" is none of " + known_names(options_.label_numbers));
}

trace::Result<void> TextEncoder::add_labeled(const TextExample& example) {
  TRY_ASSIGN(const std::int64_t number, number_of(example.label));
  constexpr std::int64_t kMostClasses = 1 << 20;
  const std::int64_t classes = options_.classes > 0 ? options_.classes : kMostClasses;
  if (number >= classes) {
    return bad("the label " + std::to_string(number) + " is beyond the model's " +
               std::to_string(classes) + " classes; set num_labels");
  }
  tokens_.clear();
  tokenizer_.encode(example.text, true, tokens_);
  if (tokens_.empty()) return bad("the text is empty");
  TRY(writer_.append(tokens_));
  writer_.end_example(number);
  labels_are_names_ = std::holds_alternative<std::string>(example.label);
  return {};
}

std::vector<std::string> TextEncoder::finish() {
  if (!labels_are_names_.value_or(false)) return {};
  std::vector<std::string> names;
  if (!options_.label_numbers.empty()) {
    for (const auto& [name, number] : options_.label_numbers) {
      names.resize(std::max(names.size(), static_cast<std::size_t>(number) + 1));
      names[static_cast<std::size_t>(number)] = name;
    }
    return names;
  }
  std::vector<std::int64_t> numbers(seen_names_.size());
  for (const auto& [name, as_it_came] : seen_names_) {  // sorted
    numbers[static_cast<std::size_t>(as_it_came)] = static_cast<std::int64_t>(names.size());
    names.push_back(name);
  }
  writer_.renumber_labels(numbers);
  return names;
}

}  // namespace shardlens::trainer
