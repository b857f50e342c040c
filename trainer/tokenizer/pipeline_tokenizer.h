// A tokenizer put together from the parts of a tokenizer.json, in the order in which the
// `tokenizers` package runs them. Any thread, once made.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trainer/tokenizer/added_tokens.h"
#include "trainer/tokenizer/post_processor.h"
#include "trainer/tokenizer/pre_tokenizer.h"
#include "trainer/tokenizer/text_normalizer.h"
#include "trainer/tokenizer/token_decoder.h"
#include "trainer/tokenizer/token_model.h"
#include "trainer/tokenizer/tokenizer.h"
#include "trainer/tokenizer/word_cache.h"

namespace shardlens::trainer {

struct TokenizerParts {
  AddedTokens added;
  std::unique_ptr<TextNormalizer> normalizer;  // may be null
  PreTokenizer pre_tokenizer;
  std::unique_ptr<TokenModel> model;
  PostProcessor post_processor;
  std::unique_ptr<TokenDecoder> decoder;  // may be null
};

// What the files beside the tokenizer say about its special tokens.
struct SpecialIds {
  std::optional<TokenId> begin_of_text, end_of_text, padding;
};

class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts);
  ~PipelineTokenizer() override;

  // Before it is used: special tokens can be looked up only once the rest is there. `fingerprint`
  // of the files it was read from.
  void set_origin(const SpecialIds& special, std::string fingerprint);

  void encode(std::string_view text, bool add_special_tokens,
              std::vector<TokenId>& tokens) const override;
  std::string decode(std::span<const TokenId> tokens, bool skip_special_tokens) const override;
  std::int64_t vocabulary() const override;
  std::optional<TokenId> id_of(std::string_view token) const override;
  std::optional<TokenId> begin_of_text() const override { return special_.begin_of_text; }
  std::optional<TokenId> end_of_text() const override { return special_.end_of_text; }
  std::optional<TokenId> padding() const override { return special_.padding; }
  std::string fingerprint() const override { return fingerprint_; }

 private:
  // What encoding one text needs.
  struct Workspace {
    TextPieces pieces;
    ModelScratch scratch;
    WordCache words;
    std::string spelled;
    std::vector<TokenId> text_tokens, word_tokens;
  };

  std::unique_ptr<Workspace> take_workspace() const;
  void give_back(std::unique_ptr<Workspace> workspace) const;
  void divide(std::string_view text, TextPieces& pieces) const;
  void tokenize(std::string_view word, Workspace& workspace) const;

  TokenizerParts parts_;
  std::string fingerprint_;
  SpecialIds special_;
  // Those that no call is using, so that words are remembered from call to call.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace shardlens::trainer
