#include "trainer/rank/rank_text.h"

#include <filesystem>
#include <utility>

#include "trace/job/huggingface/find_model.h"
#include "trainer/huggingface/chat_templates.h"
#include "trainer/text/load_text.h"
#include "trainer/text/prepared_text.h"

namespace shardlens::trainer::rank {

namespace {

// Where nobody asked for a cache: what is read as bytes is no faster from a file until its memory
// matters, for all ranks of a machine share that.
constexpr std::uint64_t kSmallestCachedBytes = std::uint64_t{64} << 20;

// Empty: text is bytes.
std::filesystem::path choose_tokenizer(const trace::job::Settings& settings) {
  const bool is_auto = settings.tokenizer == "auto";
  if (settings.tokenizer == "bytes") return {};
  if (is_auto) return trace::job::is_model_folder(settings.model) ? settings.model : "";
  return settings.tokenizer;
}

void choose_cache(const trace::job::Settings& settings, const VariableLookup& lookup,
                  text::TextOptions& options) {
  if (settings.token_cache == "off") return;
  const bool is_auto = settings.token_cache == "auto";
  options.cache_folder =
      is_auto ? text::default_token_cache(lookup) : std::filesystem::path(settings.token_cache);
  if (is_auto) options.smallest_cached = kSmallestCachedBytes;
}

text::TextProgramOptions program_options(const VariableLookup& lookup,
                                         std::function<bool()> is_stopped) {
  text::TextProgramOptions options;
  const char* python = lookup("SHARDLENS_PYTHON");
  if (python != nullptr) options.python = python;
  options.is_stopped = std::move(is_stopped);
  return options;
}

// A tokenizer may have been given a token for padding that the model has never seen.
std::int64_t padding_token(const text::EncodedText& text, std::int64_t vocabulary) {
  for (const std::int64_t token : {text.padding(), text.end_of_text()}) {
    if (token >= 0 && token < vocabulary) return token;
  }
  return 0;
}

// Names of the training data's labels mean the same in the evaluation data. Where the model numbers
// them already, what the training data adds are only names of classes that have none.
void keep_label_numbers(const text::EncodedText& text, text::PreparationOptions& options) {
  if (!options.label_numbers.empty()) return;
  const auto& names = text.label_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    options.label_numbers[names[i]] = static_cast<std::int64_t>(i);
  }
}

// Which number has which name only the model's folder could tell.
trace::base::Result<void> check_same_labels(const text::EncodedText& training,
                                            const text::EncodedText& evaluation,
                                            const trace::job::Settings& settings) {
  const auto is_labeled = [](const text::EncodedText& each) {
    return each.kind() == text::TextKind::kLabeled;
  };
  const bool are_names = !training.label_names().empty();
  if (!is_labeled(training) || !is_labeled(evaluation) ||
      are_names == !evaluation.label_names().empty()) {
    return {};
  }
  return trace::base::fail(
      trace::base::ErrorKind::kUsage,
      "The labels of data \"" + settings.data + "\" are " + (are_names ? "names" : "numbers") +
          ", those of evaluation_data \"" + settings.evaluation_data + "\" " +
          (are_names ? "numbers" : "names") +
          ". Write both in the same way, or name the classes in label2id of the model's "
          "config.json.");
}

bool has_prompt(const trace::job::Settings& settings) {
  return settings.sample_tokens > 0 && settings.evaluate_every > 0 &&
         settings.sample_prompt != "auto";
}

}  // namespace

trace::base::Result<std::string> find_text_program(const VariableLookup& lookup,
                                                   const std::atomic<int>& stop_signal) {
  return text::check_text_program(program_options(lookup, [&] { return stop_signal != 0; }));
}

trace::base::Result<RankText> load_rank_text(const trace::job::Settings& settings,
                                             std::int64_t vocabulary, std::int64_t classes,
                                             const VariableLookup& lookup,
                                             std::function<bool()> is_stopped, loop::RankLog& log) {
  const bool is_folder = trace::job::is_model_folder(settings.model);
  const std::filesystem::path model_folder = is_folder ? settings.model : "";
  text::TextOptions options;
  options.data = settings.data;
  options.program = program_options(lookup, std::move(is_stopped));
  choose_cache(settings, lookup, options);
  text::PreparationOptions& preparation = options.preparation;
  preparation.tokenizer = choose_tokenizer(settings);
  preparation.chat = huggingface::chat_folder(preparation.tokenizer, model_folder);
  preparation.skip_bad_lines = settings.on_bad_lines == trace::job::OnBadLines::kSkip;
  preparation.completion_only_loss = settings.completion_only_loss;
  preparation.classes = classes;
  if (classes > 0 && is_folder) {
    auto& numbers = preparation.label_numbers;
    TRY_ASSIGN(numbers, text::read_label_numbers(model_folder));
    const bool are_other_classes =
        settings.num_labels != trace::job::kAuto && std::ssize(numbers) != classes;
    if (are_other_classes) numbers.clear();
  }
  const auto warn = [&](const std::string& message) { log.warn(message); };
  TRY_ASSIGN(text::EncodedText training, text::load_text(options, warn));
  std::optional<text::EncodedText> evaluation;
  if (settings.evaluation_data != "split") {
    options.data = settings.evaluation_data;
    const bool are_numbered = !preparation.label_numbers.empty();
    keep_label_numbers(training, preparation);
    TRY_ASSIGN(evaluation, text::load_text(options, warn));
    if (!are_numbered) TRY(check_same_labels(training, *evaluation, settings));
  }
  std::vector<text::TokenId> prompt;
  if (classes == 0 && has_prompt(settings)) {
    TRY_ASSIGN(prompt, text::load_prompt(settings.sample_prompt, options, warn));
  }
  const std::int64_t padding = padding_token(training, vocabulary), end = training.end_of_text();
  return RankText{
      std::move(training),
      std::move(evaluation),
      padding,
      preparation.tokenizer,
      {std::move(prompt), end, text::TextDecoder(preparation.tokenizer, options.program)}};
}

}  // namespace shardlens::trainer::rank
