#include "trainer/text/text_source.h"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "trace/base/text.h"
#include "trainer/text/byte_reader.h"

namespace shardlens::trainer::text {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 27> kTextExtensions{
    ".txt",    ".md",  ".markdown", ".rst",  ".tex", ".csv",  ".tsv", ".json", ".jsonl",
    ".ndjson", ".xml", ".html",     ".yaml", ".yml", ".toml", ".h",   ".hpp",  ".c",
    ".cc",     ".cpp", ".cu",       ".py",   ".js",  ".ts",   ".rs",  ".go",   ".java"};
// What data sets of the hub have beside their lines.
constexpr std::array<std::string_view, 5> kDescriptions{".md", ".markdown", ".json", ".yaml",
                                                        ".yml"};

// Enough to hold the first line of most data sets.
constexpr std::size_t kFirstLine = std::size_t{1} << 20;

std::string extension_of(const fs::path& file) {
  return trace::base::lower_case(file.extension().string());
}

bool is_skipped_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code ignored;
  return name.starts_with('.') || name == "build" || name == "node_modules" ||
         name == "__pycache__" || fs::exists(folder / "run.sqlite", ignored);
}

trace::base::Result<std::vector<fs::path>> list_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied,
                                             error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && is_skipped_folder(it->path())) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file(ignored) &&
               std::ranges::find(kTextExtensions, extension_of(it->path())) !=
                   kTextExtensions.end()) {
      files.push_back(it->path());
    }
  }
  if (error) {
    return trace::base::fail(trace::base::ErrorKind::kIo,
                             "The folder of text \"" + folder.string() + "\" cannot be read: " +
                                 error.message() + ". Check its permissions.");
  }
  std::ranges::sort(files);
  return files;
}

// A copy made when it was built: see cmake/CopyProjectText.cmake.
trace::base::Result<std::vector<fs::path>> find_project_text() {
  const fs::path folder = SHARDLENS_BUILTIN_TEXT;
  if (!fs::is_directory(folder)) {
    return trace::base::fail(trace::base::ErrorKind::kMissing,
                             "The project's own text, \"" + folder.string() +
                                 "\", is gone, so data: builtin has nothing to train on. Build "
                                 "again, or set data to a text file or a folder of text files.");
  }
  return list_folder(folder);
}

bool is_lines(const fs::path& file) {
  const std::string extension = extension_of(file);
  return extension == ".jsonl" || extension == ".ndjson";
}

bool is_json(const fs::path& file) { return is_lines(file) || extension_of(file) == ".json"; }

bool is_description(const fs::path& file) {
  return std::ranges::find(kDescriptions, extension_of(file)) != kDescriptions.end();
}

bool begins_as_lines(const fs::path& file) {
  auto reader = ByteReader::open(file);
  if (!reader) return false;  // reading all of it says why
  const auto piece = reader->read(kFirstLine);
  if (!piece) return false;
  const std::string_view line = piece->substr(0, piece->find('\n'));
  const auto json = nlohmann::json::parse(line.begin(), line.end(), /*callback=*/nullptr,
                                          /*allow_exceptions=*/false);
  return json.is_object() &&
         (json.contains("text") || json.contains("prompt") || json.contains("messages"));
}

TextSource source_of_file(const std::string& file) {
  TextSource source{{file}, is_json(file), ""};
  if (!source.json_lines && begins_as_lines(file)) {
    source.warning = "The text \"" + file +
                     "\" begins as JSON Lines do, but is read as plain text for its name. Name it "
                     ".jsonl to have its lines read as examples.";
  }
  return source;
}

TextSource source_of_folder(const std::string& folder, std::vector<fs::path> files) {
  TextSource source{std::move(files), false, ""};
  if (std::ranges::none_of(source.files, is_lines)) return source;
  source.json_lines = std::ranges::all_of(
      source.files, [](const fs::path& file) { return is_lines(file) || is_description(file); });
  const std::string begin = "In the folder of text \"" + folder + "\" ";
  if (!source.json_lines) {
    source.warning =
        begin +
        ".jsonl files are read as plain text, as they lie beside other texts. Name one "
        "of them, or a folder of them, to have them read as JSON Lines.";
    return source;
  }
  std::erase_if(source.files, [&](const fs::path& file) {
    if (is_json(file) && !is_lines(file)) {
      source.warning = begin +
                       ".json files are taken for descriptions of the .jsonl files and are "
                       "not read.";
    }
    return !is_lines(file);
  });
  return source;
}

}  // namespace

trace::base::Result<TextSource> find_text(const std::string& data) {
  std::error_code error;
  TextSource source;
  if (data == kBuiltinText) {
    TRY_ASSIGN(source.files, find_project_text());
  } else if (fs::is_directory(data, error)) {
    TRY_ASSIGN(std::vector<fs::path> files, list_folder(data));
    source = source_of_folder(data, std::move(files));
  } else if (fs::exists(data, error)) {
    source = source_of_file(data);
  } else {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "The text \"" + data +
                                 "\" is not there. Name a text file, a folder of text files, or "
                                 "builtin.");
  }
  if (source.files.empty()) {
    return trace::base::fail(
        trace::base::ErrorKind::kMissing,
        "The folder \"" + data +
            "\" holds no text files (.txt, .md, .jsonl, source code, …). Put text "
            "there or name another file or folder.");
  }
  return source;
}

}  // namespace shardlens::trainer::text
