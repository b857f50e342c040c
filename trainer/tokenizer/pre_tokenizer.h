// Dividing normalized text into the words that a model tokenizes one by one: the "pre_tokenizer" of
// a tokenizer.json. Any thread, once made.
#pragma once

#include <memory>
#include <vector>

#include "trainer/tokenizer/definition.h"
#include "trainer/tokenizer/text_pieces.h"

namespace shardlens::trainer {

// One step of it.
class TextDivider {
 public:
  virtual ~TextDivider() = default;
  // Throws std::runtime_error where a regular expression gives up.
  virtual void divide(TextPieces& pieces) const = 0;
};

class PreTokenizer {
 public:
  // Leaves the text whole.
  PreTokenizer() = default;
  // Errors as parse_normalizer.
  static trace::Result<PreTokenizer> parse(const Definition& definition);

  void divide(TextPieces& pieces) const {
    for (const auto& step : steps_) step->divide(pieces);
  }

  // True: the words that come out are to be spelled by spelled_bytes(). That is put off, since most
  // words were seen before.
  bool spells_bytes() const { return spells_bytes_; }

 private:
  trace::Result<void> add(const Definition& definition, bool last);

  std::vector<std::unique_ptr<TextDivider>> steps_;
  bool spells_bytes_ = false;
};

}  // namespace shardlens::trainer
