// The files that make up a tokenizer. Any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/result.h"
#include "trainer/tokenizer/added_tokens.h"
#include "trainer/tokenizer/definition.h"
#include "trainer/tokenizer/pipeline_tokenizer.h"

namespace shardlens::trainer {

trace::Result<std::string> read_tokenizer_file(const std::filesystem::path& file);

// A parsed JSON file, with what its values refer to. May not be moved while they are used.
class DefinitionFile {
 public:
  // kDamaged with the file's name; so do errors(), which puts it before an error of its values.
  static trace::Result<std::unique_ptr<DefinitionFile>> parse(std::string_view json,
                                                              const std::string& name);
  Definition root() const { return Definition(root_, ""); }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

// tokenizer_config.json, special_tokens_map.json and config.json of a folder; any may be missing.
class TokenizerSettings {
 public:
  static trace::Result<TokenizerSettings> read(const std::filesystem::path& folder);

  // The text of a token such as "eos_token": a string or an object with "content".
  std::optional<AddedToken> token(std::string_view name) const;
  // Such as "eos_token_id": a number or the first of a list.
  std::optional<TokenId> id(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  // By the ids they state: "added_tokens_decoder".
  trace::Result<std::vector<std::pair<TokenId, AddedToken>>> added_tokens() const;
  std::vector<AddedToken> more_special_tokens() const;
  // "model_type" of the model, lower case; empty if it is not told.
  std::string model_type() const;

  SpecialIds special_ids(const Tokenizer& tokenizer) const;

  // The files as they are.
  const std::string& sources() const { return sources_; }

 private:
  trace::Result<std::unique_ptr<DefinitionFile>> parse_if_there(const std::filesystem::path& file);

  std::string sources_;
  std::unique_ptr<DefinitionFile> tokenizer_, special_, model_;
};

// Each fills all parts. `source` is the folder's or file's name in errors.
trace::Result<TokenizerParts> parts_of_definition(const Definition& root);
trace::Result<TokenizerParts> parts_of_byte_pairs(std::string_view vocabulary_json,
                                                  std::string_view merges,
                                                  const TokenizerSettings& settings);
trace::Result<TokenizerParts> parts_of_word_pieces(std::string_view vocabulary_lines,
                                                   const TokenizerSettings& settings);

}  // namespace shardlens::trainer
