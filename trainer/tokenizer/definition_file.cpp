#include "trainer/tokenizer/definition_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace shardlens::trainer {

namespace fs = std::filesystem;

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

// The largest published one has 35 MB.
constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;

// Where a JSON string that begins at `at` ends: behind its closing quote.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

// Python writes whole numbers of any size, and transformers' "no limit" for model_max_length has 31
// digits, more than the parser's numbers: those become reals.
std::string with_large_numbers_as_reals(std::string_view json) {
  constexpr std::size_t kMostDigits = 18;  // of which every number fits 64 bits
  constexpr std::string_view kNumber = "0123456789+-.eE";
  std::string text;
  text.reserve(json.size() + 16);
  for (std::size_t at = 0; at < json.size();) {
    std::size_t end = at + 1;
    const bool is_number = json[at] == '-' || (json[at] >= '0' && json[at] <= '9');
    if (json[at] == '"') end = end_of_string(json, at);
    if (is_number) end = std::min(json.find_first_not_of(kNumber, at), json.size());
    const std::string_view token = json.substr(at, end - at);
    text += token;
    const bool is_whole = is_number && token.find_first_of(".eE") == token.npos;
    if (is_whole && token.size() > kMostDigits) text += "e0";
    at = end;
  }
  return text;
}

}  // namespace

Result<std::string> read_tokenizer_file(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > kLargestFile) {
    return fail(ErrorKind::kForeign, file.string() + " has " + std::to_string(size >> 20) +
                                         " MiB, too much for a file of a tokenizer (1024 MiB)");
  }
  const auto cannot = [&](const std::string& why) {
    return fail(ErrorKind::kIo,
                file.string() + " cannot be read: " + why + ". Check its permissions.");
  };
  // No size: a pipe, say, whose opening would wait for a writer.
  if (error) return cannot(error.message());
  std::ifstream stream(file, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) {
    return cannot(std::strerror(errno));
  }
  return text;
}

Result<std::unique_ptr<DefinitionFile>> DefinitionFile::parse(std::string_view json,
                                                              const std::string& name) {
  auto file = std::make_unique<DefinitionFile>();
  if (json.starts_with("\xEF\xBB\xBF")) json.remove_prefix(3);  // a mark of byte order
  auto error = file->parser_.parse(json.data(), json.size()).get(file->root_);
  if (error == simdjson::NUMBER_ERROR) {
    error = file->parser_.parse(with_large_numbers_as_reals(json)).get(file->root_);
  }
  if (error != simdjson::SUCCESS) {
    return fail(ErrorKind::kDamaged,
                name + " is damaged or no JSON: " + simdjson::error_message(error));
  }
  if (!file->root_.is_object()) return fail(ErrorKind::kDamaged, name + " is no JSON object");
  return file;
}

}  // namespace shardlens::trainer
