// Finds and reads the text to train on: a file, a folder, or the project's own text. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/model/result.h"
#include "trainer/data/byte_tokenizer.h"

namespace shardlens::trainer {

// The value of the setting `data` that stands for the project's own text.
inline constexpr std::string_view kBuiltinText = "builtin";

// Files to read, sorted by path, so that every rank sees the same order. A folder is searched
// recursively for text extensions; hidden and build folders are left out. Errors: kUsage for a
// path that is not there, kMissing for a folder without text or project text that is gone.
trace::Result<std::vector<std::filesystem::path>> find_text_files(const std::string& data);

// All documents as tokens, each ended by ByteTokenizer::kEndOfText; binary files are left out.
// Errors name the path and what to do.
trace::Result<std::vector<Token>> load_tokens(const std::string& data);

}  // namespace shardlens::trainer
