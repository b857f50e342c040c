// The "model" of a tokenizer.json: one word to the ids of its parts. Any thread, once made; scratch
// belongs to one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trainer/tokenizer/definition.h"
#include "trainer/tokenizer/vocabulary.h"

namespace shardlens::trainer {

// What tokenizing one word needs, kept to be used again.
struct ModelScratch {
  struct Symbol {
    TokenId token = 0;
    std::int32_t previous = -1, next = -1;  // -1: none; indices
    bool merged = false;                    // into the one before it
  };
  struct Merge {
    std::uint32_t rank = 0;
    std::int32_t at = 0;
    TokenId made = 0;
  };
  struct Node {
    double score = 0;
    std::size_t begin = 0;
    TokenId token = 0;
    bool reached = false;
  };
  std::vector<Symbol> symbols;
  std::vector<Merge> queue;
  std::vector<Node> nodes;
  std::vector<std::size_t> ends;
  std::string text;
};

class TokenModel {
 public:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~TokenModel() = default;

  // Appends the tokens of a word, which is not empty.
  virtual void tokenize(std::string_view word, ModelScratch& scratch,
                        std::vector<TokenId>& tokens) const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

// Errors: kUsage for a type or an option that is not supported, kDamaged otherwise.
trace::Result<std::unique_ptr<TokenModel>> parse_token_model(const Definition& definition);

}  // namespace shardlens::trainer
