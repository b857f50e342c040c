#include "trainer/data/token_dataset.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/base/number_text.h"
#include "trainer/text/image/content_hash.h"

namespace shardlens::trainer::data {

namespace {

constexpr std::int64_t kWidthMultiple = 8;

tl::unexpected<trace::base::Error> refuse(std::string message) {
  return trace::base::fail(trace::base::ErrorKind::kUsage, std::move(message));
}

trace::base::Result<bool> decide_packing(const text::EncodedText& text,
                                         const trace::job::Settings& settings) {
  const bool has_labels = text.kind() == text::TextKind::kLabeled;
  if (has_labels && settings.packing == trace::job::AutoBool::kTrue) {
    return refuse(
        "Texts with labels are classified one by one and cannot be packed. Set packing to auto or "
        "false.");
  }
  if (settings.packing == trace::job::AutoBool::kAuto) return text.kind() == text::TextKind::kPlain;
  return settings.packing == trace::job::AutoBool::kTrue;
}

trace::base::Result<void> check_fits_model(const text::EncodedText& text, const std::string& data,
                                           const DatasetTraits& traits) {
  const bool has_labels = text.kind() == text::TextKind::kLabeled;
  if (has_labels && traits.classes == 0) {
    return refuse("The data \"" + data +
                  "\" has labels, but the model predicts text. Set model to the folder of a "
                  "classifier (BERT, RoBERTa), or take the labels out.");
  }
  if (!has_labels && traits.classes > 0) {
    return refuse("The model is a classifier, but the data \"" + data + "\" has " +
                  std::string(text::to_string(text.kind())) +
                  ". Use JSON Lines with text and label, or set model to a language model.");
  }
  if (text.largest_token() >= traits.vocabulary) {
    return refuse("The tokenizer gives token " + std::to_string(text.largest_token()) +
                  ", but the model's vocabulary has " + std::to_string(traits.vocabulary) +
                  " tokens. Set tokenizer to the one that the model was trained with.");
  }
  if (has_labels && text.largest_label() >= traits.classes) {
    return refuse("The data \"" + data + "\" has the label " +
                  std::to_string(text.largest_label()) + ", but the model tells " +
                  std::to_string(traits.classes) + " classes apart. Set num_labels.");
  }
  return {};
}

trace::base::Result<SampleView> view(text::EncodedText text, const std::string& data,
                                     const trace::job::Settings& settings,
                                     const DatasetTraits& traits) {
  TRY(check_fits_model(text, data, traits));
  TRY_ASSIGN(const bool is_packed, decide_packing(text, settings));
  const std::int64_t tail = text.kind() == text::TextKind::kLabeled ? text.tail_tokens() : 0;
  if (settings.sequence_length <= tail + 1) {
    return refuse("sequence_length " + std::to_string(settings.sequence_length) +
                  " leaves no room for text beside the tokenizer's special tokens. Raise it.");
  }
  return SampleView(std::move(text), settings.sequence_length, is_packed);
}

std::string of_examples(std::int64_t count, std::int64_t total) {
  return std::to_string(count) + " of " + std::to_string(total) + " examples";
}

void add_notes(const SampleView& samples, const std::string& where,
               std::vector<std::string>& notes) {
  const text::EncodedText& text = samples.text();
  const text::EncodingCounts& counts = text.encoding_counts();
  const auto note = [&](const std::string& line) { notes.push_back(where + line); };
  if (counts.bad_lines > 0) {
    note(trace::base::counted(counts.bad_lines, "line") + " cannot be used: left out. The first:");
    for (const std::string& line : text.bad_lines()) note("  " + line);
  }
  if (counts.binary_files > 0) {
    note(std::to_string(counts.binary_files) + " binary files were left out");
  }
  const auto crossed = static_cast<std::int64_t>(counts.crossed_boundaries);
  if (crossed > 0) {
    note(
        "in " + of_examples(crossed, text.examples()) +
        " a token holds the end of the prompt and the beginning of the completion; let completions "
        "begin with a space or a new line");
  }
  if (samples.counts().cut > 0) {
    note(of_examples(samples.counts().cut, text.examples()) +
         " are longer than sequence_length and were cut");
  }
  if (samples.counts().left_out > 0) {
    note(of_examples(samples.counts().left_out, text.examples()) +
         " have nothing to learn in the part that is used and were left out");
  }
  if (!text.label_names().empty()) {
    std::string line = "labels:";
    for (std::size_t i = 0; i < text.label_names().size(); ++i) {
      line += (i > 0 ? ", " : " ") + text.label_names()[i] + " = " + std::to_string(i);
    }
    note(line);
  }
}

}  // namespace

trace::base::Result<TokenDataset> TokenDataset::create(text::EncodedText text,
                                                       std::optional<text::EncodedText> evaluation,
                                                       const trace::job::Settings& settings,
                                                       const DatasetTraits& traits,
                                                       int world_size) {
  TRY_ASSIGN(SampleView training, view(std::move(text), settings.data, settings, traits));
  std::optional<SampleView> held_out;
  if (evaluation) {
    TRY_ASSIGN(held_out, view(std::move(*evaluation), settings.evaluation_data, settings, traits));
    if (held_out->is_packed() != training.is_packed()) {
      return refuse("The data \"" + settings.data + "\" and the evaluation data \"" +
                    settings.evaluation_data +
                    "\" are of different forms: one is packed, the other padded. Set packing to "
                    "true or false.");
    }
  }
  TokenDataset dataset(std::move(training), std::move(held_out), traits, settings.sequence_length);
  TRY(dataset.split(settings, world_size));
  return dataset;
}

trace::base::Result<void> TokenDataset::split(const trace::job::Settings& settings,
                                              int world_size) {
  const std::int64_t count = training_.count();
  std::int64_t held_out = 0;
  if (!evaluation_) {
    held_out = static_cast<std::int64_t>(static_cast<double>(count) * settings.evaluation_fraction);
    if (settings.evaluate_every > 0 && settings.evaluation_fraction > 0 && count > 0) {
      held_out = std::max<std::int64_t>(held_out, 1);
    }
  }
  training_samples_ = count - held_out;
  if (settings.evaluate_every > 0 && count > 0 && evaluation_samples() == 0) {
    return evaluation_ ? refuse("The evaluation data \"" + settings.evaluation_data +
                                "\" is shorter than one sequence. Use a longer text or lower "
                                "sequence_length.")
                       : refuse(
                             "evaluate_every asks for evaluation, but evaluation_fraction keeps "
                             "no text for it. Set evaluation_fraction above 0, evaluation_data "
                             "to a file or evaluate_every to 0.");
  }
  const auto needed = settings.batch_per_rank * settings.gradient_accumulation_steps *
                      static_cast<std::int64_t>(world_size);
  if (training_samples_ >= needed) return {};
  const std::int64_t left_out = training_.counts().left_out;
  return refuse(
      "The text \"" + settings.data + "\" has " + std::to_string(training_.text().tokens()) +
      " tokens, which is " + std::to_string(training_samples_) + " training sequences of " +
      (is_packed() ? "" : "at most ") + std::to_string(length_) + " tokens" +
      (left_out > 0 ? " (" + of_examples(left_out, training_.text().examples()) +
                          " have nothing to learn in their first " + std::to_string(length_) + ")"
                    : "") +
      "; one step needs " + std::to_string(needed) +
      ". Use a longer text, or lower sequence_length, batch_per_rank, "
      "gradient_accumulation_steps, evaluation_fraction or ranks.");
}

std::int64_t TokenDataset::samples() const {
  return training_.count() + (evaluation_ ? evaluation_->count() : 0);
}

// Changes `sample` to its number in the view.
const SampleView& TokenDataset::view_of(std::int64_t& sample) const {
  if (!evaluation_ || sample < training_.count()) return training_;
  sample -= training_.count();
  return *evaluation_;
}

std::int64_t TokenDataset::counted_targets(std::int64_t sample) const {
  const SampleView& samples = view_of(sample);
  return samples.counted_targets(sample);
}

std::int64_t TokenDataset::width_of(std::span<const std::int64_t> samples) const {
  if (is_packed()) return length_;
  std::int64_t longest = 1;
  for (std::int64_t sample : samples) {
    const SampleView& view = view_of(sample);
    longest = std::max(longest, view.range(sample).width());
  }
  return std::min(length_, (longest + kWidthMultiple - 1) / kWidthMultiple * kWidthMultiple);
}

model::TokenBatch TokenDataset::batch(std::span<const std::int64_t> samples) const {
  const auto rows = static_cast<std::int64_t>(samples.size());
  const std::int64_t width = width_of(samples);
  model::TokenBatch batch;
  batch.inputs = torch::full({rows, width}, traits_.padding_token, torch::kLong);
  batch.targets = traits_.classes > 0
                      ? torch::full({rows}, model::kIgnoredTarget, torch::kLong)
                      : torch::full({rows, width}, model::kIgnoredTarget, torch::kLong);
  if (!is_packed()) batch.attention_mask = torch::zeros({rows, width}, torch::kBool);
  for (std::int64_t row = 0; row < rows; ++row) {
    fill_row(samples[static_cast<std::size_t>(row)], row, batch);
  }
  // Without padding models are faster without a mask.
  if (batch.attention_mask.defined() && batch.read_tokens == rows * width) {
    batch.attention_mask = torch::Tensor();
  }
  return batch;
}

void TokenDataset::fill_row(std::int64_t sample, std::int64_t row, model::TokenBatch& batch) const {
  const SampleView& samples = view_of(sample);
  const text::EncodedText& text = samples.text();
  const SampleRange range = samples.range(sample);
  const std::int64_t width = batch.inputs.size(1);
  auto* inputs = batch.inputs.data_ptr<std::int64_t>() + row * width;
  text.copy(range.begin, range.inputs, inputs);
  text.copy(range.tail_begin, range.tail, inputs + range.inputs);
  batch.read_tokens += range.width();
  batch.counted_targets += samples.counted_targets(sample);
  if (batch.attention_mask.defined()) {
    std::fill_n(batch.attention_mask.data_ptr<bool>() + row * width, range.width(), true);
  }
  if (traits_.classes > 0) {
    batch.targets.data_ptr<std::int64_t>()[row] = samples.label(sample);
    return;
  }
  auto* targets = batch.targets.data_ptr<std::int64_t>() + row * width;
  text.copy(range.begin + 1, range.inputs, targets);
  if (!text.has_mask()) return;
  for (std::int64_t i = 0; i < range.inputs; ++i) {
    if (!text.counts(range.begin + 1 + i)) targets[i] = model::kIgnoredTarget;
  }
}

model::TokenBatch TokenDataset::stand_in() const {
  model::TokenBatch batch = this->batch(std::array<std::int64_t, 1>{0});
  batch.targets.fill_(model::kIgnoredTarget);
  batch.counted_targets = 0;
  batch.read_tokens = 0;
  batch.is_stand_in = true;
  return batch;
}

std::vector<std::string> TokenDataset::notes() const {
  std::vector<std::string> notes;
  add_notes(training_, evaluation_ ? "training data: " : "data: ", notes);
  if (evaluation_) add_notes(*evaluation_, "evaluation data: ", notes);
  return notes;
}

std::uint64_t TokenDataset::held_out_checksum() const {
  text::ContentHash hash;
  hash.update_number(evaluation_ ? 0 : static_cast<std::uint64_t>(training_samples_));
  hash.update_number((evaluation_ ? *evaluation_ : training_).text().content());
  return hash.digest();
}

std::int64_t TokenDataset::checksum() const {
  text::ContentHash hash;
  hash.update_number(training_.text().content());
  if (evaluation_) hash.update_number(evaluation_->text().content());
  return static_cast<std::int64_t>(hash.digest() >> 1);  // its negative must exist too
}

std::int64_t TokenDataset::token_count() const {
  return training_.text().tokens() + (evaluation_ ? evaluation_->text().tokens() : 0);
}

}  // namespace shardlens::trainer::data
