#include "trainer/tokenizer/tokenizer_settings.h"

#include <algorithm>
#include <charconv>

namespace shardlens::trainer {

namespace fs = std::filesystem;

using trace::Result;

namespace {

// Absent, too, where there is no file.
std::optional<Definition> find_in_file(const std::unique_ptr<DefinitionFile>& file,
                                       std::string_view name) {
  return file ? file->root().find(name) : std::nullopt;
}

std::optional<std::string> text_in_file(const std::unique_ptr<DefinitionFile>& file,
                                        std::string_view name) {
  const auto found = find_in_file(file, name);
  if (!found) return {};
  const auto text = found->text();
  return text ? std::optional(std::string(*text)) : std::nullopt;
}

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

}  // namespace

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
    const auto found = find_in_file(*file, name);
    auto token = found ? as_token(*found) : std::nullopt;
    if (token) return token;
  }
  return {};
}

std::optional<TokenId> TokenizerSettings::id(std::string_view name) const {
  const auto found = find_in_file(model_, name);
  return found ? as_id(*found) : std::nullopt;
}

std::optional<std::string> TokenizerSettings::text(std::string_view name) const {
  return text_in_file(tokenizer_, name);
}

std::optional<bool> TokenizerSettings::flag(std::string_view name) const {
  const auto found = find_in_file(tokenizer_, name);
  if (!found) return {};
  const auto flag = found->flag();
  return flag ? std::optional(*flag) : std::nullopt;
}

Result<std::vector<std::pair<TokenId, AddedToken>>> TokenizerSettings::added_tokens() const {
  std::vector<std::pair<TokenId, AddedToken>> tokens;
  const auto found = find_in_file(tokenizer_, "added_tokens_decoder");
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
    const auto found = find_in_file(*file, "additional_special_tokens");
    const auto items = found ? found->items() : Result<std::vector<Definition>>();
    if (!found || !items) continue;
    for (const Definition& item : *items) {
      if (auto token = as_token(item)) tokens.push_back(*std::move(token));
    }
  }
  return tokens;
}

std::string TokenizerSettings::model_type() const {
  return text_in_file(model_, "model_type").value_or("");
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
