// What the files beside a tokenizer's own say about it. Immutable once read; any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/model/result.h"
#include "trainer/tokenizer/added_tokens.h"
#include "trainer/tokenizer/definition_file.h"
#include "trainer/tokenizer/pipeline_tokenizer.h"

namespace shardlens::trainer {

// tokenizer_config.json, special_tokens_map.json and config.json of a folder; any may be missing.
class TokenizerSettings {
 public:
  // Errors as read_tokenizer_file and DefinitionFile::parse.
  static trace::Result<TokenizerSettings> read(const std::filesystem::path& folder);

  // The text of a token such as "eos_token": a string or an object with "content".
  std::optional<AddedToken> token(std::string_view name) const;
  // Such as "eos_token_id": a number or the first of a list.
  std::optional<TokenId> id(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  // In the order of the ids that "added_tokens_decoder" states. kDamaged for what is no id.
  trace::Result<std::vector<std::pair<TokenId, AddedToken>>> added_tokens() const;
  std::vector<AddedToken> more_special_tokens() const;
  // "model_type" of the model; empty if it is not told.
  std::string model_type() const;

  // By these files, else by the names that are usual.
  SpecialIds special_ids(const Tokenizer& tokenizer) const;

  // The files as they are.
  const std::string& sources() const { return sources_; }

 private:
  trace::Result<std::unique_ptr<DefinitionFile>> parse_if_there(const std::filesystem::path& file);

  std::string sources_;
  std::unique_ptr<DefinitionFile> tokenizer_, special_, model_;
};

}  // namespace shardlens::trainer
