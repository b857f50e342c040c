// Byte-pair encoding (Sennrich et al. 2016), as GPT-2 and, over SentencePiece's alphabet, Llama use
// it. Any thread, once made.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/tokenizer/merge_table.h"
#include "trainer/tokenizer/token_model.h"

namespace shardlens::trainer {

struct BytePairOptions {
  std::optional<std::string> unknown{};  // token of characters that are not in the vocabulary
  std::string continuing_prefix{};       // of symbols that do not begin a word
  std::string end_suffix{};              // of symbols that end one
  bool fuse_unknown = false;             // unknown characters in a row become one token
  bool byte_fallback = false;            // an unknown character becomes tokens <0xNN>
  bool ignore_merges = false;            // a word that is a token stays whole
};

class BytePairModel final : public TokenModel {
 public:
  using Merges = std::vector<std::pair<std::string_view, std::string_view>>;

  // `merges` by rank. kDamaged for a merge of, or to, what is not in the vocabulary.
  static trace::Result<std::unique_ptr<TokenModel>> make(BytePairOptions options,
                                                         Vocabulary vocabulary,
                                                         const Merges& merges);
  static trace::Result<std::unique_ptr<TokenModel>> parse(const Definition& definition);

  void tokenize(std::string_view word, ModelScratch& scratch,
                std::vector<TokenId>& tokens) const override;

 private:
  BytePairModel(BytePairOptions options, Vocabulary vocabulary, std::size_t merges);

  trace::Result<void> add_merge(std::string_view left, std::string_view right, std::uint32_t rank);
  void index_characters();
  TokenId symbol_of(std::string_view word, std::size_t begin, std::size_t end,
                    ModelScratch& scratch) const;
  void divide(std::string_view word, ModelScratch& scratch) const;
  bool add_bytes(std::string_view symbol, ModelScratch& scratch) const;
  void merge_all(ModelScratch& scratch) const;
  void queue_merge(std::int32_t at, ModelScratch& scratch) const;

  BytePairOptions options_;
  MergeTable merges_;
  TokenId unknown_ = -1;
  std::array<TokenId, 512> characters_{};  // tokens of one character below U+0200; -1: none
  std::array<TokenId, 256> bytes_{};       // <0x00> to <0xFF>; -1: none
};

}  // namespace shardlens::trainer
