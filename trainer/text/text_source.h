// Finds the text to train on: a file, a folder, or the project's own text. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trainer::text {

// The value of the setting `data` that stands for the project's own text, as it was first built.
inline constexpr std::string_view kBuiltinText = "builtin";

struct TextSource {
  // Sorted by path, so that every rank sees the same order.
  std::vector<std::filesystem::path> files;
  // A file .jsonl, .ndjson or .json, or such files but .json of a folder that has nothing beside
  // them but what describes data sets (Markdown, JSON, YAML). In other folders they are text like
  // any other. Capital letters make no difference.
  bool json_lines = false;
  std::string warning;  // of what may have been meant otherwise; empty: none
};

// A folder is searched recursively for text extensions; hidden and build folders are left out.
// Errors: kUsage for a path that is not there, kMissing for a folder without text or project text
// that is gone.
trace::base::Result<TextSource> find_text(const std::string& data);

}  // namespace shardlens::trainer::text
