// What the model writes at every evaluation, so that people see it learn. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trainer/data/token_dataset.h"
#include "trainer/model/decoder_model.h"
#include "trainer/strategy/strategy.h"
#include "trainer/text/prepared_text.h"

namespace shardlens::trainer::evaluate {

// How a language model goes on with a text.
struct GenerationOptions {
  std::int64_t tokens = 32;
  // 0 always takes the most probable token; above, tokens are drawn from
  // softmax(logits / temperature) while that is finite.
  double temperature = 0;
  std::uint64_t seed = 0;
  std::int64_t context = 1024;  // as many of the last tokens the model is shown
  torch::ScalarType compute_type = torch::kFloat32;  // by autocast
  torch::Device device = torch::kCPU;
  std::function<void()> on_token;  // after each, as many take long
};

// The tokens after `prompt`, which has at least one; always `options.tokens` of them, so that all
// ranks run as many forwards: every rank calls it with the same prompt and gets the same tokens.
// Each forward sees the whole text again. Leaves the model in training mode.
std::vector<std::int64_t> generate(model::DecoderModel& model, strategy::Strategy& strategy,
                                   std::span<const std::int64_t> prompt,
                                   const GenerationOptions& options);

// What a data set's tokenizer knows.
struct SampleText {
  std::vector<text::TokenId> prompt;  // of the setting sample_prompt, if it is not auto
  std::int64_t end_of_text = -1;
  text::TextDecoder decoder;
};

struct Sample {
  std::vector<text::TokenId> prompt, answer;
};

class SampleWriter {
 public:
  // The prompt is the setting's, or of the first held-out sample what comes before its answer, of
  // plain text its beginning. Error kUsage: the setting's has no tokens, or some that the model
  // does not have.
  static trace::base::Result<SampleWriter> create(const trace::job::Settings& settings,
                                                  const data::TokenDataset& dataset,
                                                  SampleText text);

  // Whether it writes at all: not unless asked to, and not with a classifier.
  bool is_on() const { return !prompt_.empty(); }
  // What the model adds to the prompt. Every rank calls it and gets the same.
  Sample write(model::DecoderModel& model, strategy::Strategy& strategy,
               const GenerationOptions& options) const;
  // "prompt → what the model adds to it", in one line of UTF-8. Error kFailed: the tokenizer's
  // program has ended.
  trace::base::Result<std::string> text_of(const Sample& sample);

 private:
  explicit SampleWriter(SampleText text) : text_(std::move(text)) {}

  SampleText text_;
  std::vector<std::int64_t> prompt_;
};

// As it can stand in a line: what is not UTF-8 replaced, line breaks and other control characters
// as in C ("\n", "\x1b").
std::string one_line(std::string_view text);

}  // namespace shardlens::trainer::evaluate
