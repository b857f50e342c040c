#include "trainer/sample_writer.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

namespace {

// Of held-out text: enough to go on from, and short in a log.
constexpr std::size_t kAutomaticPrompt = 16;

// What is read before the first target that counts, a question; of plain text its first words.
std::vector<std::int64_t> beginning_of_held_out(const TokenDataset& dataset) {
  if (dataset.evaluation_samples() == 0) return {};
  const TokenBatch batch = dataset.batch(std::array{dataset.training_samples()});
  const torch::Tensor row = batch.inputs[0].contiguous();
  const torch::Tensor targets = batch.targets[0].contiguous();
  const std::span tokens(row.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(row.numel()));
  const auto* target = targets.const_data_ptr<std::int64_t>();
  std::size_t count = 1;
  while (count < tokens.size() && target[count - 1] == kIgnoredTarget) ++count;
  if (count == 1) count = std::max<std::size_t>(1, std::min(kAutomaticPrompt, tokens.size() / 2));
  return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

trace::Result<SampleWriter> SampleWriter::create(const trace::Settings& settings,
                                                 const TokenDataset& dataset,
                                                 const Tokenizer& tokenizer) {
  SampleWriter writer(tokenizer);
  if (settings.sample_tokens == 0 || settings.evaluate_every == 0 || dataset.is_classification()) {
    return writer;
  }
  if (settings.sample_prompt == "auto") {
    writer.prompt_ = beginning_of_held_out(dataset);
    return writer;
  }
  std::vector<TokenId> tokens;
  tokenizer.encode(settings.sample_prompt, /*add_special_tokens=*/true, tokens);
  if (tokens.empty()) {
    return trace::fail(trace::ErrorKind::kUsage,
                       "sample_prompt is empty: give the model a word to go on from, or use auto.");
  }
  writer.prompt_.assign(tokens.begin(), tokens.end());
  return writer;
}

std::string SampleWriter::write(DecoderModel& model, Strategy& strategy,
                                GenerationOptions options) const {
  const auto added = generate(model, strategy, prompt_, options);
  const auto end = tokenizer_.end_of_text();
  // What comes after the end of a document is another one.
  const auto stop = end ? std::ranges::find(added, *end) : added.end();
  const std::vector<TokenId> prompt(prompt_.begin(), prompt_.end()), answer(added.begin(), stop);
  return one_line(tokenizer_.decode(prompt, /*skip_special_tokens=*/true)) + " → " +
         one_line(tokenizer_.decode(answer, /*skip_special_tokens=*/true));
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : replace_invalid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      line += escaped;
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace shardlens::trainer
