#include "trainer/model/layers/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shardlens::trainer::model {

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

// YaRN: fast waves are kept, slow ones slowed by `factor`, with a ramp between those that turn
// beta_fast and beta_slow times within the original context (Peng et al. 2023, section 3.2).
class YarnRamp {
 public:
  explicit YarnRamp(const ModelShape& shape) {
    const RotaryScaling& scaling = shape.rotary;
    const auto width = static_cast<double>(shape.head_width());
    const auto place_of = [&](double turns) {
      const double wave = static_cast<double>(scaling.original_context) / turns;
      return width * std::log(wave / (2 * std::numbers::pi)) / (2 * std::log(shape.rotary_base));
    };
    double first = place_of(scaling.beta_fast), last = place_of(scaling.beta_slow);
    if (scaling.truncates) {
      first = std::floor(first);
      last = std::ceil(last);
    }
    first_ = std::max(first, 0.0);
    last_ = std::min(last, width - 1);
    if (first_ == last_) last_ += 0.001;  // as transformers: a step, not a division by 0
  }
  // How much of pair `i` is slowed.
  double slowed(std::int64_t i) const {
    return std::clamp((static_cast<double>(i) - first_) / (last_ - first_), 0.0, 1.0);
  }

 private:
  double first_, last_;
};

double scaled(double frequency, std::int64_t pair, const ModelShape& shape) {
  const RotaryScaling& scaling = shape.rotary;
  switch (scaling.kind) {
    case RotaryKind::kLlama3:
      return stretch(frequency, scaling);
    case RotaryKind::kLinear:
      return frequency / scaling.factor;
    case RotaryKind::kDynamic:  // acts only beyond the context, where no sequence gets
      return frequency;
    case RotaryKind::kYarn: {
      const double slowed = YarnRamp(shape).slowed(pair);
      return slowed * frequency / scaling.factor + (1 - slowed) * frequency;
    }
  }
  return frequency;
}

}  // namespace

std::vector<float> rotary_frequencies(const ModelShape& shape) {
  std::vector<float> frequencies;
  const std::int64_t width = shape.head_width();
  for (std::int64_t i = 0; i < width; i += 2) {
    double frequency =
        std::pow(shape.rotary_base, -static_cast<double>(i) / static_cast<double>(width));
    if (shape.rotary.factor > 0) frequency = scaled(frequency, i / 2, shape);
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

Rotary::Rotary(const ModelShape& shape, torch::Device device)
    : amplitude_(shape.rotary.factor > 0 ? shape.rotary.attention_factor : 1),
      frequencies_(
          register_buffer("inv_freq", torch::tensor(rotary_frequencies(shape)).to(device))) {}

void Rotary::extend_to(std::int64_t time) {
  const torch::NoGradGuard no_grad;
  const auto frequencies = frequencies_.to(torch::kFloat32);
  const auto positions = torch::arange(time, frequencies.options());
  const auto half = at::outer(positions, frequencies);
  const auto angles = at::cat({half, half}, 1);
  cos_ = angles.cos();
  sin_ = angles.sin();
  if (amplitude_ == 1) return;
  cos_ *= amplitude_;
  sin_ *= amplitude_;
}

torch::Tensor Rotary::apply(const torch::Tensor& x) {
  const auto time = x.size(2), half = x.size(3) / 2;
  if (!cos_.defined() || cos_.size(0) < time) extend_to(time);
  const auto cos = cos_.narrow(0, 0, time).to(x.scalar_type());
  const auto sin = sin_.narrow(0, 0, time).to(x.scalar_type());
  const auto turned = at::cat({-x.narrow(3, half, half), x.narrow(3, 0, half)}, 3);
  return x * cos + turned * sin;
}

}  // namespace shardlens::trainer::model
