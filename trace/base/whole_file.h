// Small files, read and written as a whole. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace shardlens::trace::base {

// None: it cannot be read.
std::optional<std::string> whole_text(const std::filesystem::path& file);

// All of `text` or what was there before: it is written beside the file, and takes its place once
// it is on the disk.
std::error_code replace_text(const std::filesystem::path& file, std::string_view text);

}  // namespace shardlens::trace::base
