#include "trainer/model/rotary.h"

#include <cmath>
#include <numbers>

namespace shardlens::trainer {

namespace {

// transformers' `rope_type: llama3`: long waves are slowed by `factor`, short ones kept, those
// between blended.
double stretch(double frequency, const RotaryScaling& scaling) {
  const double wave = 2 * std::numbers::pi / frequency;
  const double original = static_cast<double>(scaling.original_context);
  if (wave > original / scaling.low_frequency_factor) return frequency / scaling.factor;
  if (wave < original / scaling.high_frequency_factor) return frequency;
  const double kept = (original / wave - scaling.low_frequency_factor) /
                      (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

}  // namespace

std::vector<float> rotary_frequencies(const ModelShape& shape) {
  std::vector<float> frequencies;
  const std::int64_t width = shape.head_width();
  for (std::int64_t i = 0; i < width; i += 2) {
    double frequency =
        std::pow(shape.rotary_base, -static_cast<double>(i) / static_cast<double>(width));
    if (shape.rotary.factor > 0) frequency = stretch(frequency, shape.rotary);
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

Rotary::Rotary(const ModelShape& shape, torch::Device device)
    : frequencies_(
          register_buffer("inv_freq", torch::tensor(rotary_frequencies(shape)).to(device))) {}

void Rotary::extend_to(std::int64_t time) {
  const torch::NoGradGuard no_grad;
  const auto frequencies = frequencies_.to(torch::kFloat32);
  const auto positions = torch::arange(time, frequencies.options());
  const auto half = at::outer(positions, frequencies);
  const auto angles = at::cat({half, half}, 1);
  cos_ = angles.cos();
  sin_ = angles.sin();
}

torch::Tensor Rotary::apply(const torch::Tensor& x) {
  const auto time = x.size(2), half = x.size(3) / 2;
  if (!cos_.defined() || cos_.size(0) < time) extend_to(time);
  const auto cos = cos_.narrow(0, 0, time).to(x.scalar_type());
  const auto sin = sin_.narrow(0, 0, time).to(x.scalar_type());
  const auto turned = at::cat({-x.narrow(3, half, half), x.narrow(3, 0, half)}, 3);
  return x * cos + turned * sin;
}

}  // namespace shardlens::trainer
