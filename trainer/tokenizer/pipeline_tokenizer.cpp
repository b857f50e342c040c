#include "trainer/tokenizer/pipeline_tokenizer.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "trainer/tokenizer/byte_alphabet.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

PipelineTokenizer::PipelineTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {}

PipelineTokenizer::~PipelineTokenizer() = default;

void PipelineTokenizer::set_origin(const SpecialIds& special, std::string fingerprint) {
  special_ = special;
  fingerprint_ = std::move(fingerprint);
}

std::unique_ptr<PipelineTokenizer::Workspace> PipelineTokenizer::take_workspace() const {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Workspace>();
  auto workspace = std::move(idle_.back());
  idle_.pop_back();
  return workspace;
}

void PipelineTokenizer::give_back(std::unique_ptr<Workspace> workspace) const {
  workspace->pieces.clear();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

// Text to words and tokens that stand in it. Pieces refer to `text`.
void PipelineTokenizer::divide(std::string_view text, TextPieces& pieces) const {
  const TextPiece whole{.text = text, .from_start = text.empty() ? 0 : utf8_length(text.front())};
  parts_.added.divide_raw(whole, pieces);
  pieces.divide([&](const TextPiece& piece) {
    if (!parts_.normalizer) return parts_.added.divide_normalized(piece, pieces);
    NormalizedText normalized{.text = std::string(piece.text),
                              .from_start = piece.from_start,
                              .limit = grow_limit(piece.text.size())};
    parts_.normalizer->normalize(normalized);
    parts_.added.divide_normalized(
        {.text = pieces.store(std::move(normalized.text)), .from_start = normalized.from_start},
        pieces);
  });
  parts_.pre_tokenizer.divide(pieces);
}

void PipelineTokenizer::tokenize(std::string_view word, Workspace& workspace) const {
  if (const auto known = workspace.words.find(word)) {
    workspace.text_tokens.insert(workspace.text_tokens.end(), known->begin(), known->end());
    return;
  }
  std::string_view spelled = word;
  if (parts_.pre_tokenizer.spells_bytes()) {
    workspace.spelled.clear();
    append_spelled(word, workspace.spelled);
    spelled = workspace.spelled;
  }
  if (spelled.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::runtime_error("A text of " + std::to_string(word.size() >> 20) +
                             " MiB without an end of a word is too long for the tokenizer (2 GiB). "
                             "Split it into documents.");
  }
  workspace.word_tokens.clear();
  parts_.model->tokenize(spelled, workspace.scratch, workspace.word_tokens);
  workspace.words.add(word, workspace.word_tokens);
  workspace.text_tokens.insert(workspace.text_tokens.end(), workspace.word_tokens.begin(),
                               workspace.word_tokens.end());
}

void PipelineTokenizer::encode(std::string_view text, bool add_special_tokens,
                               std::vector<TokenId>& tokens) const {
  std::string repaired;
  if (!is_utf8(text)) {
    repaired = replace_invalid_utf8(text);
    text = repaired;
  }
  auto workspace = take_workspace();
  workspace->text_tokens.clear();
  divide(text, workspace->pieces);
  for (const TextPiece& piece : workspace->pieces.all()) {
    if (piece.token != kNoToken) {
      workspace->text_tokens.push_back(piece.token);
    } else {
      tokenize(piece.text, *workspace);
    }
  }
  parts_.post_processor.process(workspace->text_tokens, add_special_tokens, tokens);
  give_back(std::move(workspace));
}

std::string PipelineTokenizer::decode(std::span<const TokenId> tokens,
                                      bool skip_special_tokens) const {
  std::vector<std::string> texts;
  for (const TokenId token : tokens) {
    auto text = parts_.added.token_of(token);
    if (!text) text = parts_.model->vocabulary().token_of(token);
    if (!text || (skip_special_tokens && parts_.added.is_special(*text))) continue;
    texts.emplace_back(*text);
  }
  if (parts_.decoder) parts_.decoder->decode(texts);
  std::string joined;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!parts_.decoder && i > 0) joined += ' ';
    joined += texts[i];
  }
  return joined;
}

std::int64_t PipelineTokenizer::vocabulary() const {
  return std::int64_t{1} +
         std::max({parts_.model->vocabulary().largest_id(), parts_.added.largest_id(),
                   parts_.post_processor.largest_id()});
}

std::optional<TokenId> PipelineTokenizer::id_of(std::string_view token) const {
  if (const auto added = parts_.added.find(token)) return added;
  return parts_.model->vocabulary().find(token);
}

}  // namespace shardlens::trainer
