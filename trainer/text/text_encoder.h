// Examples to tokens, and which of them are to be learnt. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/model/result.h"
#include "trainer/text/text_example.h"
#include "trainer/text/token_writer.h"
#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

// A conversation as the model sees it; the assistant's answers are bytes [first, second) of it, in
// order, each with what ends it.
struct ConversationText {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> answers;
};
// Of the JSON array of messages. Errors are of kind kUsage and say what is wrong with them.
using ConversationRenderer =
    std::function<trace::Result<ConversationText>(std::string_view messages)>;

struct EncodingOptions {
  bool completion_only_loss = true;
  // How many classes labels may name; 0: not known.
  std::int64_t classes = 0;
  // Numbers of labels that are names; empty: the sorted names are numbered from 0.
  std::map<std::string, std::int64_t> label_numbers;
  ConversationRenderer render;       // none: conversations are refused
  std::string renderer_fingerprint;  // equal for renderers that give equal texts
};

// What becomes of an example:
//   plain       the tokenizer's special tokens around the text, and its end_of_text
//   completion  prompt and completion tokenized as one text, and end_of_text; as many tokens as the
//               prompt alone has are out of the loss, also where a token holds the prompt's end and
//               the completion's beginning (counted); as TRL's SFTTrainer
//   chat        the rendered text, whose special tokens the template writes itself; a token is in
//               the loss if it ends inside an answer
//   labelled    the tokenizer's special tokens around the text
class TextEncoder {
 public:
  TextEncoder(const Tokenizer& tokenizer, const EncodingOptions& options, TokenWriter& writer);

  // Kind kUsage, without a place: this example cannot be used, and nothing of it was written. All
  // examples of one writer have one kind.
  trace::Result<void> add(const TextExample& example);
  // A document in pieces, for a tokenizer to which it does not matter where a text is cut.
  trace::Result<void> add_piece(std::string_view text);
  trace::Result<void> end_document();

  // Numbers the labels; their names, if they have some.
  std::vector<std::string> finish();

 private:
  trace::Result<void> add_document(const std::string& text);
  trace::Result<void> add_completion(const TextExample& example);
  trace::Result<void> add_conversation(const TextExample& example);
  trace::Result<void> add_labeled(const TextExample& example);
  trace::Result<std::int64_t> number_of(const TextLabel& label);
  std::size_t tokens_ended_by(std::string_view text);
  void end_with_end_of_text(std::vector<TokenId>& tokens) const;

  const Tokenizer& tokenizer_;
  const EncodingOptions& options_;
  TokenWriter& writer_;
  std::size_t tail_;                      // tokens that the tokenizer puts behind every text
  std::vector<TokenId> tokens_, others_;  // used again and again
  std::map<std::string, std::int64_t> seen_names_;  // numbered as they came
  std::optional<bool> labels_are_names_;
};

}  // namespace shardlens::trainer
