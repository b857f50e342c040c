// Encoded texts from literal tokens, in memory. For tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/image/encoded_text.h"
#include "trainer/text/image/token_writer.h"

namespace shardlens::trainer {

// `counted` has a '1' for each token that counts; empty: all do.
struct LiteralExample {
  std::vector<TokenId> tokens;
  std::string counted = {};
  std::int64_t label = -1;
};

inline EncodedText encoded(TextKind kind, const std::vector<LiteralExample>& examples,
                           std::int64_t tail = 0) {
  auto writer = TokenWriter::to_memory(100000);
  writer.set_kind(kind);
  writer.set_tail_tokens(tail);
  for (const LiteralExample& example : examples) {
    for (std::size_t i = 0; i < example.tokens.size(); ++i) {
      const bool counted = example.counted.empty() || example.counted[i] == '1';
      EXPECT_TRUE(writer.append({&example.tokens[i], 1}, counted));
    }
    writer.end_example(example.label);
  }
  auto image = writer.finish(0, {}, {});
  return *EncodedText::from(std::move(*image), 0);
}

// One document: tokens 0, 1, 2, …
inline EncodedText counting_text(std::int64_t count) {
  LiteralExample document;
  for (std::int64_t i = 0; i < count; ++i) document.tokens.push_back(static_cast<TokenId>(i));
  return encoded(TextKind::kPlain, {document});
}

// Completions of 1 to `longest` tokens; token values are the example's number; about half count.
inline EncodedText uneven_completions(std::int64_t count, std::int64_t longest) {
  std::vector<LiteralExample> examples;
  for (std::int64_t i = 0; i < count; ++i) {
    LiteralExample example;
    const std::int64_t length = 2 + (i * 7) % longest;
    example.tokens.assign(static_cast<std::size_t>(length), static_cast<TokenId>(i));
    for (std::int64_t t = 0; t < length; ++t)
      example.counted += t > (i * 3) % length / 2 ? '1' : '0';
    examples.push_back(example);
  }
  return encoded(TextKind::kCompletion, examples);
}

inline EncodedText labeled_texts(std::int64_t count, std::int64_t classes) {
  std::vector<LiteralExample> examples;
  for (std::int64_t i = 0; i < count; ++i) {
    examples.push_back(
        {std::vector<TokenId>(static_cast<std::size_t>(1 + i % 9), static_cast<TokenId>(i)), "",
         i % classes});
  }
  return encoded(TextKind::kLabeled, examples);
}

}  // namespace shardlens::trainer
