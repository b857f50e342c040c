#include "trainer/evaluate/sample_writer.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "trace/base/number_text.h"
#include "trace/base/printable.h"
#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer::evaluate {

namespace {

// On the CPU, so that a seed gives the same text on every device.
std::int64_t draw(const torch::Tensor& logits, double temperature, at::Generator& generator) {
  const torch::Tensor values = logits.to(torch::kCPU, torch::kFloat32);
  const auto most_probable = [&] { return values.argmax().item<std::int64_t>(); };
  if (temperature == 0) return most_probable();
  const torch::Tensor probabilities = at::softmax(values / temperature, 0);
  // Nothing can be drawn from a model whose weights are no longer finite, which is for the step's
  // loss to tell.
  if (!at::isfinite(probabilities).all().item<bool>()) return most_probable();
  return at::multinomial(probabilities, 1, false, generator).item<std::int64_t>();
}

torch::Tensor last_tokens(const std::vector<std::int64_t>& text, std::int64_t context) {
  const auto count = std::min<std::int64_t>(std::ssize(text), context);
  return torch::tensor(at::IntArrayRef(text.data() + (std::ssize(text) - count),
                                       static_cast<std::size_t>(count)),
                       torch::kLong)
      .unsqueeze(0);
}

// Of held-out text: enough to go on from, and short in a log.
constexpr std::size_t kAutomaticPrompt = 16;

// What is read before the first target that counts, a question; of plain text its first words.
std::vector<std::int64_t> beginning_of_held_out(const data::TokenDataset& dataset) {
  if (dataset.evaluation_samples() == 0) return {};
  const model::TokenBatch batch = dataset.batch(std::array{dataset.training_samples()});
  const torch::Tensor row = batch.inputs[0].contiguous();
  const torch::Tensor targets = batch.targets[0].contiguous();
  const std::span tokens(row.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(row.numel()));
  const auto* target = targets.const_data_ptr<std::int64_t>();
  std::size_t count = 1;
  while (count < tokens.size() && target[count - 1] == model::kIgnoredTarget) ++count;
  if (count == 1) count = std::max<std::size_t>(1, std::min(kAutomaticPrompt, tokens.size() / 2));
  return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

std::vector<std::int64_t> generate(model::DecoderModel& model, strategy::Strategy& strategy,
                                   std::span<const std::int64_t> prompt,
                                   const GenerationOptions& options) {
  TORCH_CHECK(!prompt.empty(), "there is nothing for the model to go on from");
  const torch::NoGradGuard no_grad;
  model.eval();
  at::Generator generator = at::detail::createCPUGenerator(options.seed);
  std::vector<std::int64_t> text(prompt.begin(), prompt.end());
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    strategy.before_evaluation();
    const tensor::AutocastScope autocast(options.device.type(), options.compute_type);
    const auto tokens = last_tokens(text, options.context).to(options.device);
    text.push_back(draw(model.last_logits(tokens)[0], options.temperature, generator));
    if (options.on_token) options.on_token();
  }
  strategy.after_evaluation();
  model.train();
  return {text.begin() + std::ssize(prompt), text.end()};
}

trace::base::Result<SampleWriter> SampleWriter::create(const trace::job::Settings& settings,
                                                       const data::TokenDataset& dataset,
                                                       SampleText text) {
  SampleWriter writer(std::move(text));
  if (settings.sample_tokens == 0 || settings.evaluate_every == 0 || dataset.is_classification()) {
    return writer;
  }
  if (settings.sample_prompt == "auto") {
    writer.prompt_ = beginning_of_held_out(dataset);
    return writer;
  }
  if (writer.text_.prompt.empty()) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "sample_prompt is empty: give the model a word to go on from, or use auto.");
  }
  writer.prompt_.assign(writer.text_.prompt.begin(), writer.text_.prompt.end());
  const std::int64_t largest = std::ranges::max(writer.prompt_);
  if (largest >= dataset.vocabulary()) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "The tokenizer gives token " + std::to_string(largest) +
            " for sample_prompt, but the model's vocabulary has " +
            std::to_string(dataset.vocabulary()) +
            " tokens. Set tokenizer to the one that the model was trained with, or another "
            "sample_prompt.");
  }
  return writer;
}

Sample SampleWriter::write(model::DecoderModel& model, strategy::Strategy& strategy,
                           const GenerationOptions& options) const {
  const auto added = generate(model, strategy, prompt_, options);
  // What comes after the end of a document is another one.
  const auto stop = std::ranges::find(added, text_.end_of_text);
  return {{prompt_.begin(), prompt_.end()}, {added.begin(), stop}};
}

trace::base::Result<std::string> SampleWriter::text_of(const Sample& sample) {
  TRY_ASSIGN(const std::string prompt, text_.decoder.decode(sample.prompt));
  TRY_ASSIGN(const std::string answer, text_.decoder.decode(sample.answer));
  return one_line(prompt) + " → " + one_line(answer);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      line += trace::base::formatted("\\x%02x", byte);
    } else {
      line += c;
    }
  }
  return trace::base::printable_line(line);
}

}  // namespace shardlens::trainer::evaluate
