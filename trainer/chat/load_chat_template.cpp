// The part of ChatTemplate that finds the template and its tokens in a model's folder.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "trainer/chat/chat_template.h"

namespace shardlens::trainer::chat {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kTemplateFile = "chat_template.jinja";
constexpr const char* kConfigFile = "tokenizer_config.json";
constexpr const char* kTokensFile = "special_tokens_map.json";
// The largest tokenizer_config.json in use, with every added token in it, has 200 KiB.
constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 20;

Result<std::string> read_file(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return fail(ErrorKind::kIo, path.string() + " cannot be read: " + error.message());
  if (size > kLargestFile) {
    return fail(ErrorKind::kDamaged,
                path.string() + " has more than 64 MiB, which no such file has");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorKind::kIo, path.string() + " cannot be read");
  return text.str();
}

// The object of a file; an empty one where there is no file.
Result<Json> read_object(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return Json::object();
  TRY_ASSIGN(const std::string text, read_file(path));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return fail(ErrorKind::kDamaged, path.string() + " is no JSON object: download it again");
  }
  return json;
}

void add_special_tokens(const Json& object, Entries& tokens) {
  for (const auto& [name, value] : object.items()) {
    if (!name.ends_with("_token")) continue;
    if (value.is_string()) set_text_entry(tokens, name, Value::text(value.get<std::string>()));
    const bool described = value.is_object() && value.contains("content");
    if (described && value["content"].is_string()) {
      set_text_entry(tokens, name, Value::text(value["content"].get<std::string>()));
    }
  }
}

// The template of a configuration; nothing: it has none.
Result<std::optional<std::string>> template_of(const Json& config, const fs::path& path) {
  if (!config.contains("chat_template") || config["chat_template"].is_null()) return std::nullopt;
  const Json& value = config["chat_template"];
  if (value.is_string()) return value.get<std::string>();
  std::string names;
  for (const Json& entry : value.is_array() ? value : Json::array()) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) continue;
    const auto name = entry["name"].get<std::string>();
    const bool has_text = entry.contains("template") && entry["template"].is_string();
    if (name == "default" && has_text) return entry["template"].get<std::string>();
    names += (names.empty() ? "" : ", ") + name;
  }
  return fail(ErrorKind::kDamaged, path.string() +
                                       " has a chat_template that is neither a text nor " +
                                       "a list with one named 'default'" +
                                       (names.empty() ? "" : " (there are: " + names + ")"));
}

tl::unexpected<Error> no_template(const fs::path& folder) {
  return fail(
      ErrorKind::kMissing,
      folder.string() + " has no chat template: neither " + kTemplateFile +
          " nor a chat_template in " + kConfigFile +
          ". Instruct models of the Llama, Mistral and Qwen families have one, base models and " +
          "GPT-2, BERT and RoBERTa do not. Put the template as " + kTemplateFile +
          " into the folder, or use data with 'prompt' and 'completion' or with 'text'.");
}

}  // namespace

Result<ChatTemplate> ChatTemplate::load(const fs::path& folder) {
  const fs::path config_path = folder / kConfigFile;
  TRY_ASSIGN(const Json config, read_object(config_path));
  Entries tokens;
  add_special_tokens(config, tokens);
  // transformers 5 reads the older file only where the tokens are not described in the newer one.
  if (!config.contains("added_tokens_decoder")) {
    TRY_ASSIGN(const Json older, read_object(folder / kTokensFile));
    add_special_tokens(older, tokens);
  }
  fs::path path = folder / kTemplateFile;
  std::optional<std::string> source;
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    TRY_ASSIGN(source, read_file(path));
  } else {
    path = config_path;
    TRY_ASSIGN(source, template_of(config, config_path));
  }
  if (!source) return no_template(folder);
  auto parsed = parse(*source, std::move(tokens));
  if (!parsed) return fail(parsed.error().kind, path.string() + ": " + parsed.error().message);
  return parsed;
}

}  // namespace shardlens::trainer::chat
