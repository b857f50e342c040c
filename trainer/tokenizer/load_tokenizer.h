// Finds and reads the tokenizer of a model's folder as the Hugging Face hub has it. Any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "trace/model/result.h"
#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

// `path`: a folder with tokenizer.json, or else vocab.json and merges.txt, or else vocab.txt; or
// one of these files. What ends a document, begins one and fills up comes from
// tokenizer_config.json, special_tokens_map.json and config.json beside it. "truncation" and
// "padding" of tokenizer.json do not count. Errors name the file: kMissing for what is not there
// (and lists what is), kUsage for what is not supported, kDamaged, kIo.
trace::Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::filesystem::path& path);

}  // namespace shardlens::trainer
