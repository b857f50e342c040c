// From tokenizer.json.
#include "trainer/tokenizer/byte_pair_model.h"
#include "trainer/tokenizer/tokenizer_parts.h"
#include "trainer/tokenizer/unigram_model.h"
#include "trainer/tokenizer/word_level_model.h"
#include "trainer/tokenizer/word_piece_model.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

// Nothing where there is no such part.
template <typename Part, typename Parse>
Result<Part> parse_if_there(const Definition& root, std::string_view name, Parse&& parse) {
  const auto found = root.find(name);
  if (!found) return Part();
  return parse(*found);
}

Result<std::vector<AddedToken>> parse_added_tokens(const Definition& root) {
  std::vector<AddedToken> tokens;
  const auto list = root.find("added_tokens");
  if (!list) return tokens;
  TRY_ASSIGN(const std::vector<Definition> items, list->items());
  for (const Definition& item : items) {
    TRY_ASSIGN(AddedToken token, parse_added_token(item));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

// Models before 2021 have no "type"; only byte-pair encodings have merges.
Result<std::unique_ptr<TokenModel>> parse_token_model(const Definition& definition) {
  if (!definition.find("type") && definition.find("merges")) {
    return BytePairModel::parse(definition);
  }
  TRY_ASSIGN(const std::string_view type,
             type_of(definition, "model", {"BPE", "WordPiece", "WordLevel", "Unigram"}));
  if (type == "BPE") return BytePairModel::parse(definition);
  if (type == "WordPiece") return WordPieceModel::parse(definition);
  if (type == "WordLevel") return WordLevelModel::parse(definition);
  return UnigramModel::parse(definition);
}

Result<TokenizerParts> parts_of_definition(const Definition& root) {
  TRY_ASSIGN(const std::string version, root.text_or("version", "1.0"));
  if (version != "1.0") {
    return fail(ErrorKind::kNewer,
                "it is of version " + version.substr(0, 20) + "; only version 1.0 is known");
  }
  TokenizerParts parts;
  TRY_ASSIGN(const Definition model, root.at("model"));
  TRY_ASSIGN(parts.normalizer,
             parse_if_there<std::unique_ptr<TextNormalizer>>(root, "normalizer", parse_normalizer));
  TRY_ASSIGN(parts.pre_tokenizer,
             parse_if_there<PreTokenizer>(root, "pre_tokenizer", PreTokenizer::parse));
  TRY_ASSIGN(parts.post_processor,
             parse_if_there<PostProcessor>(root, "post_processor", PostProcessor::parse));
  TRY_ASSIGN(parts.decoder,
             parse_if_there<std::unique_ptr<TokenDecoder>>(root, "decoder", parse_decoder));
  TRY_ASSIGN(parts.model, parse_token_model(model));
  TRY_ASSIGN(const std::vector<AddedToken> added, parse_added_tokens(root));
  TRY_ASSIGN(parts.added,
             AddedTokens::make(added, parts.model->vocabulary(), parts.normalizer.get()));
  return parts;
}

}  // namespace shardlens::trainer
