// From vocab.json with merges.txt, and from vocab.txt: the parts are what the model's family has.
#include <algorithm>
#include <array>

#include "trainer/tokenizer/byte_pair_model.h"
#include "trainer/tokenizer/tokenizer_parts.h"
#include "trainer/tokenizer/word_piece_model.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

template <typename Visit>
void each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Result<BytePairModel::Merges> parse_merge_lines(std::string_view text) {
  BytePairModel::Merges merges;
  std::size_t number = 0, wrong = 0;
  each_line(text, [&](std::string_view line) {
    ++number;
    if (line.empty() || line.starts_with("#version")) return;
    const std::size_t space = line.find(' ');
    const bool pair =
        space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos;
    if (pair) {
      merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    } else if (wrong == 0) {
      wrong = number;
    }
  });
  if (wrong == 0) return merges;
  return fail(ErrorKind::kDamaged,
              "line " + std::to_string(wrong) +
                  " of merges.txt is no pair of tokens with one space between");
}

enum class Family { kGpt2, kRoberta, kQwen };

Result<Family> family_of(const TokenizerSettings& settings) {
  struct Row {
    std::string_view name;
    Family family;
  };
  constexpr std::array<Row, 5> kFamilies{{{"gpt2", Family::kGpt2},
                                          {"roberta", Family::kRoberta},
                                          {"bart", Family::kRoberta},
                                          {"qwen2", Family::kQwen},
                                          {"qwen3", Family::kQwen}}};
  std::string name = settings.model_type();
  if (name.empty()) {
    name = settings.text("tokenizer_class").value_or("gpt2");
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    name = name.substr(0, name.find("tokenizer"));
  }
  for (const Row& row : kFamilies) {
    if (name == row.name) return row.family;
  }
  return fail(ErrorKind::kUsage,
              "vocab.json and merges.txt of the family '" + name.substr(0, 40) +
                  "' are not supported without a tokenizer.json (supported: gpt2, roberta, bart, "
                  "qwen2, qwen3). Save the tokenizer with transformers, which writes one.");
}

constexpr std::string_view kQwenWords =
    R"RX((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)RX";

Result<PreTokenizer> byte_level(Family family, bool prefix_space) {
  const std::string space = prefix_space ? "true" : "false";
  const std::string words = R"({"type":"ByteLevel","add_prefix_space":)" + space;
  std::string json = words + "}";
  if (family == Family::kQwen) {
    json = R"({"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Isolated",)"
           R"("invert":false,"pattern":{"Regex":")" +
           std::string(kQwenWords) + "\"}}," + words + R"(,"use_regex":false}]})";
  }
  TRY_ASSIGN(const auto file, DefinitionFile::parse(json, "the family's pre-tokenizer"));
  return PreTokenizer::parse(file->root());
}

AddedToken special(std::string_view content) {
  return {.content = std::string(content), .normalized = false, .special = true};
}

constexpr std::array<std::string_view, 7> kRoles{"bos_token", "eos_token", "unk_token", "sep_token",
                                                 "pad_token", "cls_token", "mask_token"};

// Tokens whose ids are told come first, then those with a role, then what the family usually has,
// if the vocabulary does, or where it never holds special tokens.
Result<std::vector<AddedToken>> special_tokens(const TokenizerSettings& settings,
                                               const std::vector<AddedToken>& usual,
                                               const Vocabulary& vocabulary,
                                               bool vocabulary_lacks_special) {
  TRY_ASSIGN(const auto told, settings.added_tokens());
  std::vector<AddedToken> tokens;
  const auto add = [&](AddedToken token) {
    if (std::ranges::find(tokens, token.content, &AddedToken::content) == tokens.end()) {
      tokens.push_back(std::move(token));
    }
  };
  for (const auto& [id, token] : told) add(token);
  for (const std::string_view role : kRoles) {
    if (const auto token = settings.token(role)) {
      AddedToken added = special(token->content);
      added.strip_left = token->strip_left;
      added.strip_right = token->strip_right;
      add(std::move(added));
    }
  }
  for (const AddedToken& token : settings.more_special_tokens()) add(special(token.content));
  for (const AddedToken& token : usual) {
    if (vocabulary.find(token.content) || vocabulary_lacks_special) add(token);
  }
  return tokens;
}

// Where a file tells an id, the token has to get that one.
Result<void> check_ids(const AddedTokens& added, const TokenizerSettings& settings) {
  TRY_ASSIGN(const auto told, settings.added_tokens());
  for (const auto& [id, token] : told) {
    const auto given = added.find(token.content);
    if (!given || *given == id) continue;
    return fail(ErrorKind::kDamaged, "tokenizer_config.json gives '" + token.content.substr(0, 60) +
                                         "' the id " + std::to_string(id) + ", the vocabulary " +
                                         std::to_string(*given));
  }
  return {};
}

Result<PostProcessor> around(const AddedTokens& added, const TokenizerSettings& settings,
                             std::string_view begin, std::string_view end) {
  const auto cls = settings.token("cls_token"), sep = settings.token("sep_token");
  const auto begin_id = added.find(cls ? std::string_view(cls->content) : begin);
  const auto end_id = added.find(sep ? std::string_view(sep->content) : end);
  if (begin_id && end_id) return PostProcessor::around(*begin_id, *end_id);
  return fail(ErrorKind::kDamaged, "the vocabulary lacks '" + std::string(begin) + "' or '" +
                                       std::string(end) + "', which belong around every text");
}

}  // namespace

Result<TokenizerParts> parts_of_byte_pairs(std::string_view vocabulary_json,
                                           std::string_view merges,
                                           const TokenizerSettings& settings) {
  TRY_ASSIGN(const Family family, family_of(settings));
  TRY_ASSIGN(const auto file, DefinitionFile::parse(vocabulary_json, "vocab.json"));
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::parse(file->root()));
  TRY_ASSIGN(const BytePairModel::Merges rules, parse_merge_lines(merges));
  TokenizerParts parts;
  TRY_ASSIGN(parts.model, BytePairModel::make({}, std::move(vocabulary), rules));
  TRY_ASSIGN(parts.pre_tokenizer,
             byte_level(family, settings.flag("add_prefix_space").value_or(false)));
  if (family == Family::kQwen) parts.normalizer = form_normalizer(NormalizationForm::kNfc);
  std::vector<AddedToken> usual{special("<|endoftext|>")};
  if (family == Family::kRoberta) {
    usual = {special("<s>"), special("</s>"), special("<unk>"), special("<pad>"),
             special("<mask>")};
  }
  TRY_ASSIGN(const auto added,
             special_tokens(settings, usual, parts.model->vocabulary(), family == Family::kQwen));
  TRY_ASSIGN(parts.added,
             AddedTokens::make(added, parts.model->vocabulary(), parts.normalizer.get()));
  TRY(check_ids(parts.added, settings));
  if (family == Family::kRoberta) {
    TRY_ASSIGN(parts.post_processor, around(parts.added, settings, "<s>", "</s>"));
  }
  parts.decoder = byte_level_decoder();
  return parts;
}

Result<TokenizerParts> parts_of_word_pieces(std::string_view vocabulary_lines,
                                            const TokenizerSettings& settings) {
  Vocabulary vocabulary;
  TokenId next = 0;
  each_line(vocabulary_lines, [&](std::string_view line) { vocabulary.add(line, next++); });
  TokenizerParts parts;
  WordPieceOptions options;
  if (const auto unknown = settings.token("unk_token")) options.unknown = unknown->content;
  TRY_ASSIGN(parts.model, WordPieceModel::make(std::move(options), std::move(vocabulary)));
  const bool lower = settings.flag("do_lower_case").value_or(true);
  parts.normalizer = bert_normalizer(true, settings.flag("tokenize_chinese_chars").value_or(true),
                                     settings.flag("strip_accents").value_or(lower), lower);
  TRY_ASSIGN(const auto file, DefinitionFile::parse(R"({"type":"BertPreTokenizer"})", "BERT"));
  TRY_ASSIGN(parts.pre_tokenizer, PreTokenizer::parse(file->root()));
  const std::vector<AddedToken> usual{special("[UNK]"), special("[SEP]"), special("[PAD]"),
                                      special("[CLS]"), special("[MASK]")};
  TRY_ASSIGN(const auto added, special_tokens(settings, usual, parts.model->vocabulary(), false));
  TRY_ASSIGN(parts.added,
             AddedTokens::make(added, parts.model->vocabulary(), parts.normalizer.get()));
  TRY(check_ids(parts.added, settings));
  TRY_ASSIGN(parts.post_processor, around(parts.added, settings, "[CLS]", "[SEP]"));
  parts.decoder = word_piece_decoder();
  return parts;
}

}  // namespace shardlens::trainer
