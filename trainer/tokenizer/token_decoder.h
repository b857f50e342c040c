// From the texts of tokens back to text: the "decoder" of a tokenizer.json. Any thread, once made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainer/tokenizer/definition.h"

namespace shardlens::trainer {

class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  // Replaces the texts of tokens by others, which may be fewer; all of them joined are the text.
  // Throws std::runtime_error where a regular expression gives up.
  virtual void decode(std::vector<std::string>& tokens) const = 0;
};

// Errors as parse_normalizer. Without a decoder tokens are joined by spaces.
trace::Result<std::unique_ptr<TokenDecoder>> parse_decoder(const Definition& definition);

std::unique_ptr<TokenDecoder> byte_level_decoder();
std::unique_ptr<TokenDecoder> word_piece_decoder();

}  // namespace shardlens::trainer
