// Lets a language model go on with a text, so that people see what it has learned. The training
// thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trainer/model/decoder_model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::evaluate {

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

}  // namespace shardlens::trainer::evaluate
