// The parts of a tokenizer from the files that may make it up. Any thread.
#pragma once

#include <string_view>

#include "trace/model/result.h"
#include "trainer/tokenizer/definition.h"
#include "trainer/tokenizer/pipeline_tokenizer.h"
#include "trainer/tokenizer/tokenizer_settings.h"

namespace shardlens::trainer {

// Each fills all parts. Errors name the place in the file: kUsage for what is not supported, kNewer
// for a tokenizer.json of another version, kDamaged.

// Of a tokenizer.json.
trace::Result<TokenizerParts> parts_of_definition(const Definition& root);
// Of vocab.json and merges.txt, and of vocab.txt; what they lack is as in the model's family.
trace::Result<TokenizerParts> parts_of_byte_pairs(std::string_view vocabulary_json,
                                                  std::string_view merges,
                                                  const TokenizerSettings& settings);
trace::Result<TokenizerParts> parts_of_word_pieces(std::string_view vocabulary_lines,
                                                   const TokenizerSettings& settings);

}  // namespace shardlens::trainer
