#include "trainer/huggingface/model_texts.h"

#include <array>
#include <span>
#include <system_error>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/job/huggingface/find_model.h"
#include "trainer/huggingface/chat_templates.h"
#include "trainer/huggingface/folder_source.h"

namespace shardlens::trainer::huggingface {

namespace fs = std::filesystem;
using trace::base::Result;

namespace {

// Everything beside the weights and chat templates that transformers reads: of the model,
constexpr std::array kOfModel{"chat_template.json", "generation_config.json"};
// of its tokenizer, whichever of them it has,
constexpr std::array kTokenizers{"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt",
                                 "tokenizer.model"};
// and what is said of its tokens.
constexpr std::array kOfTokens{"tokenizer_config.json", "special_tokens_map.json",
                               "added_tokens.json"};

// If it is there.
Result<void> add(const fs::path& file, const fs::path& name, ModelTexts& texts) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  auto text = trace::base::whole_text(file);
  if (!text) {
    return trace::base::fail(trace::base::ErrorKind::kIo,
                             trace::base::quoted(file) + " cannot be read. Check its permissions.");
  }
  texts.files[name] = std::move(*text);
  return {};
}

Result<void> add_all(const fs::path& folder, std::span<const char* const> names,
                     ModelTexts& texts) {
  for (const char* name : names) TRY(add(folder / name, name, texts));
  return {};
}

Result<void> add_tokenizer(const fs::path& tokenizer, ModelTexts& texts) {
  std::error_code error;
  if (fs::is_directory(tokenizer, error)) {
    TRY(add_all(tokenizer, kTokenizers, texts));
    return add_all(tokenizer, kOfTokens, texts);
  }
  const fs::path folder = tokenizer.parent_path(), name = tokenizer.filename();
  if (name == "vocab.json" || name == "merges.txt") {
    TRY(add_all(folder, std::array{"vocab.json", "merges.txt"}, texts));
  } else {
    TRY(add(tokenizer, name == "vocab.txt" ? name : "tokenizer.json", texts));
  }
  return add_all(folder, kOfTokens, texts);
}

}  // namespace

Result<ModelTexts> read_model_texts(const fs::path& source, const fs::path& tokenizer,
                                    const trace::job::ModelShape& shape) {
  ModelTexts texts;
  if (!source.empty()) {
    TRY_ASSIGN(const FolderSource weights, FolderSource::open(source, shape));
    texts.type = weights.stored_type();
    TRY_ASSIGN(texts.config, trace::job::read_model_config(source));
    TRY(add_all(source, kOfModel, texts));
  }
  // As files, which come before what a tokenizer_config.json says.
  if (const fs::path chat = chat_folder(tokenizer, source); !chat.empty()) {
    for (const auto& [name, text] : read_chat_templates(chat)) {
      texts.files[chat_template_file(name)] = text;
    }
  }
  if (!tokenizer.empty()) TRY(add_tokenizer(tokenizer, texts));
  return texts;
}

}  // namespace shardlens::trainer::huggingface
