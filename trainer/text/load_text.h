// A text file, a folder of them or JSON Lines as tokens, from the cache if they are there. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "trace/model/result.h"
#include "trainer/text/encoded_text.h"
#include "trainer/text/text_encoder.h"
#include "trainer/text/token_cache.h"
#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

struct TextOptions {
  std::string data;  // as the setting
  EncodingOptions encoding;
  bool skip_bad_lines = false;
  std::filesystem::path cache_folder;  // empty: none
  // Texts of fewer bytes are encoded faster than they are worth a file.
  std::uint64_t smallest_cached = 0;
};

// Errors name the file, the line and what to do: kUsage for a text that cannot be used, kMissing,
// kFailed for a file that cannot be read. `warn` hears of a cache that cannot be used.
trace::Result<EncodedText> load_text(const TextOptions& options, const Tokenizer& tokenizer,
                                     const TokenCache::Warn& warn);

}  // namespace shardlens::trainer
