#include "trainer/huggingface/chat_templates.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "trace/base/file_system.h"

namespace shardlens::trainer::huggingface {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* kDefault = "default";
constexpr const char* kMoreFolder = "additional_chat_templates";
constexpr std::string_view kExtension = ".jinja";

std::map<std::string, std::string> templates_in_files(const fs::path& folder) {
  std::map<std::string, std::string> found;
  const auto read = [&](const std::string& name, const fs::path& file) {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return;  // opening a pipe would wait
    if (auto text = trace::base::whole_text(file)) found[name] = std::move(*text);
  };
  read(kDefault, folder / chat_template_file(kDefault));
  std::error_code error;
  for (auto it = fs::directory_iterator(folder / kMoreFolder, error);
       !error && it != fs::directory_iterator(); it.increment(error)) {
    if (it->path().extension() == kExtension) read(it->path().stem().string(), it->path());
  }
  return found;
}

bool is_file_name(const std::string& name) {
  return !name.empty() && !name.starts_with('.') && name.find('/') == std::string::npos;
}

std::map<std::string, std::string> templates_in_config(const fs::path& folder) {
  const fs::path file = folder / "tokenizer_config.json";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  const Json config = Json::parse(trace::base::whole_text(file).value_or(""), nullptr,
                                  /*allow_exceptions=*/false);
  const Json given = config.is_object() ? config.value("chat_template", Json()) : Json();
  if (given.is_string()) return {{kDefault, given.get<std::string>()}};
  std::map<std::string, std::string> found;
  if (!given.is_array()) return found;
  for (const Json& each : given) {
    if (!each.is_object()) continue;
    const Json name = each.value("name", Json()), text = each.value("template", Json());
    if (!name.is_string() || !text.is_string() || !is_file_name(name.get<std::string>())) continue;
    found[name.get<std::string>()] = text.get<std::string>();
  }
  return found;
}

}  // namespace

fs::path chat_template_file(const std::string& name) {
  if (name == kDefault) return "chat_template.jinja";
  return fs::path(kMoreFolder) / (name + std::string(kExtension));
}

std::map<std::string, std::string> read_chat_templates(const fs::path& folder) {
  auto found = templates_in_files(folder);
  return found.empty() ? templates_in_config(folder) : found;
}

fs::path chat_folder(const fs::path& tokenizer, const fs::path& model) {
  if (tokenizer.empty()) return model;
  std::error_code error;
  const fs::path folder =
      fs::is_directory(tokenizer, error) ? tokenizer : fs::absolute(tokenizer).parent_path();
  const auto own = read_chat_templates(folder);
  if (own.empty()) return model;
  const bool is_models =
      !own.contains(kDefault) && !model.empty() && read_chat_templates(model).contains(kDefault);
  return is_models ? model : folder;
}

}  // namespace shardlens::trainer::huggingface
