#include "app/session/files/text_file.h"

#include <algorithm>
#include <fstream>

namespace shardlens::app::session {

namespace fs = std::filesystem;

fs::path free_file_name(const fs::path& folder, const std::string& name) {
  std::string safe = name;
  std::ranges::replace_if(
      safe, [](char c) { return c == '/' || c == '\\' || c == ':' || (c >= 0 && c < ' '); }, '-');
  if (safe.empty() || safe.front() == '.') safe = "shardlens" + safe;
  // "run.json.gz" has an ending of two parts.
  const std::string packed = safe.ends_with(".gz") ? ".gz" : "";
  const fs::path wanted(safe.substr(0, safe.size() - packed.size()));
  const std::string ending = wanted.extension().string() + packed;
  fs::path file = folder / safe;
  std::error_code error;
  for (int number = 2; fs::exists(file, error); ++number) {
    file = folder / (wanted.stem().string() + " " + std::to_string(number) + ending);
  }
  return file;
}

trace::base::Result<fs::path> save_text(const fs::path& folder, const std::string& name,
                                        const std::string& text) {
  const fs::path file = free_file_name(folder, name);
  std::ofstream output(file, std::ios::binary);
  output << text;
  output.close();
  if (output) return file;
  return trace::base::fail(
      trace::base::ErrorKind::kIo,
      "Could not save " + file.string() + ". Is there space, and may you write to that folder?");
}

}  // namespace shardlens::app::session
