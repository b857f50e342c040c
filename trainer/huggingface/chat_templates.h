// The chat templates that a folder has, of a tokenizer or of a model. Any thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace shardlens::trainer::huggingface {

// By their names, of which most folders have "default" only; as transformers, those in files of
// their own, or else those of tokenizer_config.json. Empty: none that can be read.
std::map<std::string, std::string> read_chat_templates(const std::filesystem::path& folder);
// Where transformers looks for that of this name.
std::filesystem::path chat_template_file(const std::string& name);

// Whose templates write conversations: the tokenizer's, a folder or a file in it, if it has a
// "default", else the model's folder; of the two that have none the tokenizer's, if it has others.
// Either may be empty; so is the result where there is none.
std::filesystem::path chat_folder(const std::filesystem::path& tokenizer,
                                  const std::filesystem::path& model);

}  // namespace shardlens::trainer::huggingface
