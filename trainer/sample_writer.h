// What the model writes at every evaluation, so that people see it learn. The training thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/settings.h"
#include "trainer/data/token_dataset.h"
#include "trainer/generation.h"
#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

class SampleWriter {
 public:
  // The prompt is the setting's, or of the first held-out sample what comes before its answer, of
  // plain text its beginning. Error kUsage: the setting's has no tokens.
  static trace::Result<SampleWriter> create(const trace::Settings& settings,
                                            const TokenDataset& dataset,
                                            const Tokenizer& tokenizer);

  // Whether it writes at all: not unless asked to, and not with a classifier.
  bool is_on() const { return !prompt_.empty(); }
  // "prompt → what the model adds to it", in one line of UTF-8. Every rank calls it and gets the
  // same.
  std::string write(DecoderModel& model, Strategy& strategy, GenerationOptions options) const;

 private:
  explicit SampleWriter(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  const Tokenizer& tokenizer_;
  std::vector<std::int64_t> prompt_;
};

// As it can stand in a line: what is not UTF-8 replaced, line breaks and other control characters
// as in C ("\n", "\x1b").
std::string one_line(std::string_view text);

}  // namespace shardlens::trainer
