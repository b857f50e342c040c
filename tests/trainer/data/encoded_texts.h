// Encoded texts from literal tokens, in memory. For tests.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/text/image/encoded_text.h"
#include "trainer/text/image/token_file.h"

namespace shardlens::trainer {

// `counted` has a '1' for each token that counts; empty: all do.
struct LiteralExample {
  std::vector<text::TokenId> tokens;
  std::string counted = {};
  std::int64_t label = -1;
};

inline text::EncodedText encoded(text::TextKind kind, const std::vector<LiteralExample>& examples,
                                 std::int64_t tail = 0) {
  std::vector<text::TokenId> tokens;
  std::vector<std::uint64_t> mask, offsets{0};
  std::vector<std::int32_t> labels;
  for (const LiteralExample& example : examples) {
    for (std::size_t i = 0; i < example.tokens.size(); ++i) {
      if (tokens.size() % 64 == 0) mask.push_back(0);
      const bool counted = example.counted.empty() || example.counted[i] == '1';
      mask.back() |= std::uint64_t{counted} << (tokens.size() % 64);
      tokens.push_back(example.tokens[i]);
    }
    offsets.push_back(tokens.size());
    labels.push_back(static_cast<std::int32_t>(example.label));
  }
  text::TokenHeader header;
  header.kind = kind;
  header.has_mask = header.is_masked_kind() ? 1 : 0;
  header.tokens = tokens.size();
  header.examples = examples.size();
  header.tail_tokens = static_cast<std::uint64_t>(tail);
  header.notes_bytes = 2;  // no names of labels, no bad lines
  if (tokens.size() % 2 != 0) tokens.push_back(0);
  if (labels.size() % 2 != 0) labels.push_back(0);
  text::TokenFile file = *text::TokenFile::in_memory();
  EXPECT_TRUE(file.append(std::as_bytes(std::span(tokens))));
  if (header.has_mask == 0) mask.clear();
  EXPECT_TRUE(file.append(std::as_bytes(std::span(mask))));
  EXPECT_TRUE(file.append(std::as_bytes(std::span(offsets))));
  if (!header.has_labels()) labels.clear();
  EXPECT_TRUE(file.append(std::as_bytes(std::span(labels))));
  EXPECT_TRUE(file.append(std::array<std::byte, 2>{}));
  return *text::EncodedText::from(*file.finish(header), 0);
}

// One document: tokens 0, 1, 2, …
inline text::EncodedText counting_text(std::int64_t count) {
  LiteralExample document;
  for (std::int64_t i = 0; i < count; ++i) document.tokens.push_back(static_cast<text::TokenId>(i));
  return encoded(text::TextKind::kPlain, {document});
}

// Completions of 1 to `longest` tokens; token values are the example's number; about half count.
inline text::EncodedText uneven_completions(std::int64_t count, std::int64_t longest) {
  std::vector<LiteralExample> examples;
  for (std::int64_t i = 0; i < count; ++i) {
    LiteralExample example;
    const std::int64_t length = 2 + (i * 7) % longest;
    example.tokens.assign(static_cast<std::size_t>(length), static_cast<text::TokenId>(i));
    for (std::int64_t t = 0; t < length; ++t)
      example.counted += t > (i * 3) % length / 2 ? '1' : '0';
    examples.push_back(example);
  }
  return encoded(text::TextKind::kCompletion, examples);
}

inline text::EncodedText labeled_texts(std::int64_t count, std::int64_t classes) {
  std::vector<LiteralExample> examples;
  for (std::int64_t i = 0; i < count; ++i) {
    examples.push_back({std::vector<text::TokenId>(static_cast<std::size_t>(1 + i % 9),
                                                   static_cast<text::TokenId>(i)),
                        "", i % classes});
  }
  return encoded(text::TextKind::kLabeled, examples);
}

}  // namespace shardlens::trainer
