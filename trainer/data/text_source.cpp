#include "trainer/data/text_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>

namespace shardlens::trainer {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 26> kTextExtensions{
    ".txt", ".md",   ".markdown", ".rst", ".tex",  ".csv", ".tsv", ".json", ".jsonl",
    ".xml", ".html", ".yaml",     ".yml", ".toml", ".h",   ".hpp", ".c",    ".cc",
    ".cpp", ".cu",   ".py",       ".js",  ".ts",   ".rs",  ".go",  ".java"};
constexpr std::array<std::string_view, 3> kProjectExtensions{".md", ".h", ".cpp"};

// Every token takes two bytes of memory on every rank.
constexpr std::uintmax_t kLargestText = std::uintmax_t{4} << 30;

bool is_skipped_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code ignored;
  return name.starts_with('.') || name == "build" || name == "node_modules" ||
         name == "__pycache__" || fs::exists(folder / "run.sqlite", ignored);
}

trace::Result<std::vector<fs::path>> list_folder(const fs::path& folder,
                                                 std::span<const std::string_view> extensions) {
  std::vector<fs::path> files;
  std::error_code error;
  auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied,
                                             error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && is_skipped_folder(it->path())) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file(ignored) &&
               std::ranges::find(extensions, it->path().extension().string()) != extensions.end()) {
      files.push_back(it->path());
    }
  }
  if (error) {
    return trace::fail(trace::ErrorKind::kIo, "The folder of text \"" + folder.string() +
                                                  "\" cannot be read: " + error.message() +
                                                  ". Check its permissions.");
  }
  std::ranges::sort(files);
  return files;
}

trace::Result<std::vector<fs::path>> find_project_text() {
  const fs::path tree = SHARDLENS_SOURCE_TREE;
  if (!fs::is_directory(tree)) {
    return trace::fail(trace::ErrorKind::kMissing,
                       "The project's own text, \"" + tree.string() +
                           "\", is gone, so data: builtin has nothing to train on. Set data to a "
                           "text file or a folder of text files.");
  }
  return list_folder(tree, kProjectExtensions);
}

trace::Result<std::string> read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  if (stream) text.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream.good() && !stream.eof()) {
    return trace::fail(trace::ErrorKind::kIo, "The text \"" + file.string() +
                                                  "\" cannot be read: " + std::strerror(errno) +
                                                  ". Check its permissions.");
  }
  return text;
}

// As grep and git decide it: a zero byte near the start.
bool is_binary(std::string_view text) {
  return text.substr(0, 8192).find('\0') != std::string_view::npos;
}

trace::Result<void> check_total_size(const std::vector<fs::path>& files, const std::string& data) {
  std::uintmax_t total = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) total += size;
  }
  if (total <= kLargestText) return {};
  return trace::fail(trace::ErrorKind::kUsage,
                     "The text \"" + data + "\" has " + std::to_string(total >> 20) +
                         " MiB; at most 4096 MiB are read into memory. Set data to a part of it.");
}

}  // namespace

trace::Result<std::vector<fs::path>> find_text_files(const std::string& data) {
  std::error_code error;
  std::vector<fs::path> files;
  if (data == kBuiltinText) {
    TRY_ASSIGN(files, find_project_text());
  } else if (fs::is_directory(data, error)) {
    TRY_ASSIGN(files, list_folder(data, kTextExtensions));
  } else if (fs::exists(data, error)) {
    files.push_back(data);
  } else {
    return trace::fail(trace::ErrorKind::kUsage,
                       "The text \"" + data +
                           "\" is not there. Set data to a text file, a folder of text files, or "
                           "builtin.");
  }
  if (files.empty()) {
    return trace::fail(trace::ErrorKind::kMissing,
                       "The folder \"" + data +
                           "\" holds no text files (.txt, .md, .json, source code, …). Put text "
                           "there or set data to another file or folder.");
  }
  return files;
}

trace::Result<std::vector<Token>> load_tokens(const std::string& data) {
  TRY_ASSIGN(const auto files, find_text_files(data));
  TRY(check_total_size(files, data));
  std::vector<Token> tokens;
  std::size_t binary = 0;
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string text, read_file(file));
    if (is_binary(text)) {
      ++binary;
    } else if (!text.empty()) {
      ByteTokenizer::append(text, tokens);
    }
  }
  if (tokens.empty()) {
    return trace::fail(trace::ErrorKind::kUsage,
                       "The text \"" + data + "\" is " + (binary > 0 ? "binary" : "empty") +
                           ". Set data to a text file, a folder of text files, or builtin.");
  }
  return tokens;
}

}  // namespace shardlens::trainer
