#include "trainer/tokenizer/tokenizer_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

namespace fs = std::filesystem;

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

// The largest published one has 35 MB.
constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;

// A string, or an object with at least "content".
std::optional<AddedToken> as_token(const Definition& definition) {
  if (definition.is_object()) {
    auto token = parse_added_token(definition);
    if (!token) return {};
    return *std::move(token);
  }
  const auto content = definition.text();
  if (!content) return {};
  return AddedToken{.content = std::string(*content)};
}

std::optional<TokenId> as_id(const Definition& definition) {
  if (definition.is_array()) {
    const auto items = definition.items();
    if (!items || items->empty()) return {};
    return as_id(items->front());
  }
  const auto id = definition.id();
  if (!id) return {};
  return *id;
}

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
  std::ifstream stream(file, std::ios::binary);
  std::string text(error ? 0 : size, '\0');
  if (error || !stream.read(text.data(), static_cast<std::streamsize>(size))) {
    return fail(ErrorKind::kIo, file.string() + " cannot be read: " +
                                    (error ? error.message() : std::string(std::strerror(errno))) +
                                    ". Check its permissions.");
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

Result<std::unique_ptr<DefinitionFile>> TokenizerSettings::parse_if_there(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return nullptr;
  TRY_ASSIGN(const std::string json, read_tokenizer_file(file));
  sources_ += json;
  return DefinitionFile::parse(json, file.string());
}

Result<TokenizerSettings> TokenizerSettings::read(const fs::path& folder) {
  TokenizerSettings settings;
  TRY_ASSIGN(settings.tokenizer_, settings.parse_if_there(folder / "tokenizer_config.json"));
  TRY_ASSIGN(settings.special_, settings.parse_if_there(folder / "special_tokens_map.json"));
  TRY_ASSIGN(settings.model_, settings.parse_if_there(folder / "config.json"));
  return settings;
}

std::optional<AddedToken> TokenizerSettings::token(std::string_view name) const {
  for (const auto* file : {&tokenizer_, &special_}) {
    if (!*file) continue;
    const auto found = (*file)->root().find(name);
    if (!found) continue;
    if (auto token = as_token(*found)) return token;
  }
  return {};
}

std::optional<TokenId> TokenizerSettings::id(std::string_view name) const {
  if (!model_) return {};
  const auto found = model_->root().find(name);
  return found ? as_id(*found) : std::nullopt;
}

std::optional<std::string> TokenizerSettings::text(std::string_view name) const {
  const auto found = tokenizer_ ? tokenizer_->root().find(name) : std::nullopt;
  const auto text = found ? found->text() : Result<std::string_view>("");
  if (!found || !text) return {};
  return std::string(*text);
}

std::optional<bool> TokenizerSettings::flag(std::string_view name) const {
  const auto found = tokenizer_ ? tokenizer_->root().find(name) : std::nullopt;
  const auto flag = found ? found->flag() : Result<bool>(false);
  if (!found || !flag) return {};
  return *flag;
}

Result<std::vector<std::pair<TokenId, AddedToken>>> TokenizerSettings::added_tokens() const {
  std::vector<std::pair<TokenId, AddedToken>> tokens;
  const auto found = tokenizer_ ? tokenizer_->root().find("added_tokens_decoder") : std::nullopt;
  simdjson::dom::object object;
  if (!found || found->value().get(object) != simdjson::SUCCESS) return tokens;
  for (const auto [key, value] : object) {
    const Definition definition(value, "added_tokens_decoder['" + std::string(key.substr(0, 40)) +
                                           "'] of tokenizer_config.json");
    TokenId id = 0;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), id);
    if (read.ec != std::errc() || read.ptr != key.data() + key.size() || id < 0) {
      return definition.error("is under no token id");
    }
    TRY_ASSIGN(AddedToken token, parse_added_token(definition));
    tokens.emplace_back(id, std::move(token));
  }
  std::ranges::sort(tokens, {}, &std::pair<TokenId, AddedToken>::first);
  return tokens;
}

std::vector<AddedToken> TokenizerSettings::more_special_tokens() const {
  std::vector<AddedToken> tokens;
  for (const auto* file : {&tokenizer_, &special_}) {
    const auto found = *file ? (*file)->root().find("additional_special_tokens") : std::nullopt;
    const auto items = found ? found->items() : Result<std::vector<Definition>>();
    if (!found || !items) continue;
    for (const Definition& item : *items) {
      if (auto token = as_token(item)) tokens.push_back(*std::move(token));
    }
  }
  return tokens;
}

std::string TokenizerSettings::model_type() const {
  const auto found = model_ ? model_->root().find("model_type") : std::nullopt;
  const auto text = found ? found->text() : Result<std::string_view>("");
  return std::string(found && text ? *text : "");
}

SpecialIds TokenizerSettings::special_ids(const Tokenizer& tokenizer) const {
  const auto named = [&](std::string_view name) -> std::optional<TokenId> {
    const auto special = token(name);
    return special ? tokenizer.id_of(special->content) : std::nullopt;
  };
  const auto numbered = [&](std::string_view name) -> std::optional<TokenId> {
    const auto found = id(name);
    return found && *found < tokenizer.vocabulary() ? found : std::nullopt;
  };
  const auto usual = [&](std::initializer_list<std::string_view> names) -> std::optional<TokenId> {
    for (const std::string_view name : names) {
      if (const auto found = tokenizer.id_of(name)) return found;
    }
    return {};
  };
  const auto first_of = [](std::initializer_list<std::optional<TokenId>> found) {
    for (const auto& id : found) {
      if (id) return id;
    }
    return std::optional<TokenId>();
  };
  return {
      .begin_of_text = first_of({named("bos_token"), numbered("bos_token_id"), named("cls_token"),
                                 usual({"<s>", "<|begin_of_text|>", "[CLS]"})}),
      .end_of_text = first_of({named("eos_token"), numbered("eos_token_id"), named("sep_token"),
                               usual({"<|endoftext|>", "</s>", "<|end_of_text|>", "[SEP]"})}),
      .padding =
          first_of({named("pad_token"), numbered("pad_token_id"), usual({"[PAD]", "<pad>"})})};
}

}  // namespace shardlens::trainer
