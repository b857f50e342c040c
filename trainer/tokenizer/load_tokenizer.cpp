#include "trainer/tokenizer/load_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>

#include "trainer/tokenizer/tokenizer_parts.h"
#include "trainer/tokenizer/unicode.h"

namespace shardlens::trainer {

namespace fs = std::filesystem;

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

// Two sums of 64 bits over eight bytes at a time, each mixed as splitmix64 does. Against chance,
// not against malice: a file is no harm to anybody but its owner.
class Fingerprint {
 public:
  void add(std::string_view bytes) {
    fold(bytes.size());
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      fold(word);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    fold(word);
  }

  std::string text() const {
    std::array<char, 33> hex{};
    std::snprintf(hex.data(), hex.size(), "%016llx%016llx", static_cast<unsigned long long>(first_),
                  static_cast<unsigned long long>(second_));
    return hex.data();
  }

 private:
  void fold(std::uint64_t word) {
    first_ = mixed(first_ ^ word);
    second_ = mixed(second_ + word);
  }
  static std::uint64_t mixed(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
  }

  std::uint64_t first_ = 0x243F6A8885A308D3, second_ = 0x13198A2E03707344;  // digits of pi
};

struct Source {
  fs::path folder;
  std::vector<fs::path> files;  // tokenizer.json; vocab.json, merges.txt; vocab.txt
};

std::string names_in(const fs::path& folder) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (names.empty()) return "nothing";
  std::ranges::sort(names);
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    list += (i > 0 ? ", " : "") + names[i];
  }
  return list + (names.size() > kMost ? ", …" : "");
}

Result<Source> find_in(const fs::path& folder) {
  const auto there = [&](const char* name) {
    std::error_code error;
    return fs::is_regular_file(folder / name, error);
  };
  if (there("tokenizer.json")) return Source{folder, {folder / "tokenizer.json"}};
  if (there("vocab.json") && there("merges.txt")) {
    return Source{folder, {folder / "vocab.json", folder / "merges.txt"}};
  }
  if (there("vocab.txt")) return Source{folder, {folder / "vocab.txt"}};
  if (there("tokenizer.model")) {
    return fail(ErrorKind::kUsage,
                "The folder \"" + folder.string() +
                    "\" has its tokenizer as tokenizer.model only, a SentencePiece file, which is "
                    "not supported. Let transformers write tokenizer.json into it: "
                    "AutoTokenizer.from_pretrained(folder).save_pretrained(folder).");
  }
  return fail(ErrorKind::kMissing, "The folder \"" + folder.string() +
                                       "\" has no tokenizer: neither tokenizer.json, nor "
                                       "vocab.json with merges.txt, nor vocab.txt. It holds " +
                                       names_in(folder) + ".");
}

Result<Source> find_source(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return find_in(path);
  if (!fs::exists(path, error)) {
    return fail(ErrorKind::kMissing, "The tokenizer \"" + path.string() +
                                         "\" is not there. Name a model's folder or its "
                                         "tokenizer.json.");
  }
  const std::string name = path.filename().string();
  if (name == "vocab.json" || name == "merges.txt") {
    return Source{path.parent_path(),
                  {path.parent_path() / "vocab.json", path.parent_path() / "merges.txt"}};
  }
  if (name == "vocab.txt" || path.extension() == ".json") return Source{path.parent_path(), {path}};
  return fail(ErrorKind::kUsage, "The file \"" + path.string() +
                                     "\" is no tokenizer. Name a model's folder, a "
                                     "tokenizer.json, vocab.json or vocab.txt.");
}

Result<TokenizerParts> read_parts(const Source& source, const std::vector<std::string>& texts,
                                  const TokenizerSettings& settings) {
  if (texts.size() == 2) return parts_of_byte_pairs(texts[0], texts[1], settings);
  if (source.files.front().extension() == ".txt") return parts_of_word_pieces(texts[0], settings);
  TRY_ASSIGN(const auto file, DefinitionFile::parse(texts[0], "the file"));
  return parts_of_definition(file->root());
}

Result<std::unique_ptr<Tokenizer>> load(const Source& source) {
  TRY(check_unicode_data());
  std::vector<std::string> texts;
  for (const fs::path& file : source.files) {
    TRY_ASSIGN(texts.emplace_back(), read_tokenizer_file(file));
  }
  TRY_ASSIGN(const TokenizerSettings settings, TokenizerSettings::read(source.folder));
  TRY_ASSIGN(TokenizerParts parts, read_parts(source, texts, settings));
  auto tokenizer = std::make_unique<PipelineTokenizer>(std::move(parts));
  const SpecialIds special = settings.special_ids(*tokenizer);
  Fingerprint fingerprint;
  fingerprint.add("1 " + unicode_version() + " " + regular_expression_version());
  for (const std::string& text : texts) fingerprint.add(text);
  // tokenizer.json says all; the older files leave some of it to the settings beside them.
  if (source.files.front().filename() != "tokenizer.json") fingerprint.add(settings.sources());
  for (const auto& id : {special.begin_of_text, special.end_of_text, special.padding}) {
    fingerprint.add(std::to_string(id.value_or(kNoToken)));
  }
  tokenizer->set_origin(special, fingerprint.text());
  return tokenizer;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const fs::path& path) {
  TRY_ASSIGN(const Source source, find_source(path));
  const std::string subject = "The tokenizer \"" + source.files.front().string() + "\"";
  try {
    auto loaded = load(source);
    if (loaded) return loaded;
    return fail(loaded.error().kind, subject + " cannot be used: " + loaded.error().message);
  } catch (const std::exception& exception) {  // of a regular expression over an added token
    return fail(ErrorKind::kDamaged, subject + " cannot be used: " + exception.what());
  }
}

}  // namespace shardlens::trainer
