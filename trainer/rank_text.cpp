#include "trainer/rank_text.h"

#include <filesystem>
#include <utility>

#include "trace/huggingface/find_model.h"
#include "trainer/conversations.h"
#include "trainer/text/byte_tokenizer.h"
#include "trainer/text/label_names.h"
#include "trainer/text/load_text.h"
#include "trainer/tokenizer/load_tokenizer.h"

namespace shardlens::trainer {

namespace {

// Where nobody asked for a cache: what is read as bytes is no faster from a file until its memory
// matters, for all ranks of a machine share that; a tokenizer takes longer.
constexpr std::uint64_t kSmallestCachedBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kSmallestCachedText = std::uint64_t{1} << 20;

trace::Result<std::unique_ptr<const Tokenizer>> choose_tokenizer(const trace::Settings& settings) {
  const bool is_auto = settings.tokenizer == "auto";
  const bool is_bytes =
      settings.tokenizer == "bytes" || (is_auto && !trace::is_model_folder(settings.model));
  if (is_bytes) return std::make_unique<const ByteTokenizer>();
  return load_tokenizer(is_auto ? settings.model : settings.tokenizer);
}

void choose_cache(const trace::Settings& settings, const Tokenizer& tokenizer,
                  const VariableLookup& lookup, TextOptions& options) {
  if (settings.token_cache == "off") return;
  if (settings.token_cache != "auto") {
    options.cache_folder = settings.token_cache;
    return;
  }
  options.cache_folder = default_token_cache(lookup);
  const bool is_bytes = dynamic_cast<const ByteTokenizer*>(&tokenizer) != nullptr;
  options.smallest_cached = is_bytes ? kSmallestCachedBytes : kSmallestCachedText;
}

// A tokenizer may have been given a token for padding that the model has never seen.
std::int64_t padding_token(const Tokenizer& tokenizer, std::int64_t vocabulary) {
  for (const auto& token : {tokenizer.padding(), tokenizer.end_of_text()}) {
    if (token && *token < vocabulary) return *token;
  }
  return 0;
}

// Names of the training data's labels mean the same in the evaluation data.
void keep_label_numbers(const EncodedText& text, EncodingOptions& options) {
  const auto& names = text.label_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) options.label_numbers[names[i]] = static_cast<std::int64_t>(i);
  }
}

}  // namespace

trace::Result<RankText> load_rank_text(const trace::Settings& settings, std::int64_t vocabulary,
                                       std::int64_t classes, const VariableLookup& lookup,
                                       RankLog& log) {
  TRY_ASSIGN(auto tokenizer, choose_tokenizer(settings));
  TextOptions options;
  options.data = settings.data;
  options.skip_bad_lines = settings.on_bad_lines == "skip";
  choose_cache(settings, *tokenizer, lookup, options);
  options.encoding.completion_only_loss = settings.completion_only_loss;
  options.encoding.classes = classes;
  const Conversations conversations = conversations_of(settings);
  options.encoding.render = conversations.render;
  options.encoding.renderer_fingerprint = conversations.fingerprint;
  if (classes > 0 && trace::is_model_folder(settings.model)) {
    TRY_ASSIGN(options.encoding.label_numbers, read_label_numbers(settings.model));
  }
  const auto warn = [&](const std::string& message) { log.warn(message); };
  TRY_ASSIGN(EncodedText training, load_text(options, *tokenizer, warn));
  std::optional<EncodedText> evaluation;
  if (settings.evaluation_data != "split") {
    options.data = settings.evaluation_data;
    keep_label_numbers(training, options.encoding);
    TRY_ASSIGN(evaluation, load_text(options, *tokenizer, warn));
  }
  const std::int64_t padding = padding_token(*tokenizer, vocabulary);
  return RankText{std::move(tokenizer), std::move(training), std::move(evaluation), padding};
}

}  // namespace shardlens::trainer
