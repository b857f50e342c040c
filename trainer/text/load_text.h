// A text file, a folder of them or JSON Lines as tokens, from the cache if they are there. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trainer/text/image/encoded_text.h"
#include "trainer/text/image/token_cache.h"
#include "trainer/text/prepared_text.h"

namespace shardlens::trainer::text {

struct TextOptions {
  std::string data;  // as the setting
  PreparationOptions preparation;
  TextProgramOptions program;
  std::filesystem::path cache_folder;  // empty: none
  // Bytes of fewer are read faster than they are worth a file.
  std::uint64_t smallest_cached = 0;
};

// Errors name the file, the line and what to do: kUsage for a text that cannot be used, kMissing,
// kDamaged, kFailed for a file that cannot be read. `warn` hears of a cache that cannot be used.
trace::base::Result<EncodedText> load_text(const TextOptions& options,
                                           const TokenCache::Warn& warn);

// The tokens of a text that a model is to go on with; `options.data` counts for nothing.
trace::base::Result<std::vector<TokenId>> load_prompt(const std::string& text,
                                                      const TextOptions& options,
                                                      const TokenCache::Warn& warn);

}  // namespace shardlens::trainer::text
