// Small texts of which something can be learnt in a few steps. For tests.
#pragma once

#include <cstdint>

#include "tests/trainer/data/encoded_texts.h"

namespace shardlens::trainer {

// Each token follows from the one before, but for every fifth.
inline LiteralExample foretold_tokens(std::int64_t count, std::int64_t vocabulary,
                                      std::int64_t first = 1) {
  LiteralExample document;
  std::int64_t token = first % vocabulary;
  for (std::int64_t i = 0; i < count; ++i) {
    token = (i % 5 == 4 ? i / 5 * 17 : token * 7 + 3) % vocabulary;
    document.tokens.push_back(static_cast<text::TokenId>(token));
  }
  return document;
}

// `samples` full blocks, and what a block needs beyond its last token.
inline text::EncodedText foretold_text(std::int64_t samples, std::int64_t length,
                                       std::int64_t vocabulary) {
  return encoded(text::TextKind::kPlain, {foretold_tokens(samples * length + 1, vocabulary)});
}

// Of 3 to `length` + 1 tokens, of which the last ones count: two, three or four where there are.
inline text::EncodedText foretold_completions(std::int64_t samples, std::int64_t length,
                                              std::int64_t vocabulary) {
  std::vector<LiteralExample> examples;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t tokens = 3 + i * 5 % (length - 1);
    LiteralExample& example = examples.emplace_back(foretold_tokens(tokens, vocabulary, i));
    for (std::int64_t t = 0; t < tokens; ++t) {
      example.counted += t + 2 + i % 3 >= tokens ? '1' : '0';
    }
  }
  return encoded(text::TextKind::kCompletion, examples);
}

// Of 2 to `length` tokens; the first tells the class.
inline text::EncodedText foretold_classes(std::int64_t samples, std::int64_t length,
                                          std::int64_t vocabulary, std::int64_t classes) {
  std::vector<LiteralExample> examples;
  for (std::int64_t i = 0; i < samples; ++i) {
    LiteralExample& example =
        examples.emplace_back(foretold_tokens(2 + i * 5 % (length - 1), vocabulary, i));
    example.label = example.tokens.front() % classes;
  }
  return encoded(text::TextKind::kLabeled, examples);
}

}  // namespace shardlens::trainer
