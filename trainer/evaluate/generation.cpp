#include "trainer/evaluate/generation.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>

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

}  // namespace shardlens::trainer::evaluate
