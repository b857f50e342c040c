// A folder that goes with its value, and files in it. For tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/base/file_system.h"

namespace shardlens::trace::test {

inline void write_text(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

inline std::string bytes_of(const std::filesystem::path& file) {
  return base::whole_text(file).value_or("");
}

// Inverts `bits` of the byte at `offset`.
inline void flip(const std::filesystem::path& file, std::uintmax_t offset, int bits = 0x10) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  const int byte = stream.get();
  stream.seekp(static_cast<std::streamoff>(offset));
  stream.put(static_cast<char>(byte ^ bits));
}

// In order.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

class Folder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path() / name; }
  // With the folders above it.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const {
    const auto file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    write_text(file, text);
    return file;
  }

 private:
  base::TemporaryFolder folder_ = std::move(*base::TemporaryFolder::create());
};

}  // namespace shardlens::trace::test
