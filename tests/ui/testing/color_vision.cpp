#include "tests/ui/testing/color_vision.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardlens::ui {

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

double to_linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

std::uint8_t from_linear(double c) {
  c = std::clamp(c, 0.0, 1.0);
  const double encoded = c <= 0.0031308 ? c * 12.92 : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(encoded * 255));
}

Vector multiply(const Matrix& m, const Vector& v) {
  Vector out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

Matrix matrix_of(Vision vision) {
  switch (vision) {
    case Vision::kProtanopia:
      return {{{0.152286, 1.052583, -0.204868},
               {0.114503, 0.786281, 0.099216},
               {-0.003882, -0.048116, 1.051998}}};
    case Vision::kDeuteranopia:
      return {{{0.367322, 0.860646, -0.227968},
               {0.280085, 0.672501, 0.047413},
               {-0.011820, 0.042940, 0.968881}}};
    case Vision::kTritanopia:
      return {{{1.255528, -0.076749, -0.178779},
               {-0.078411, 0.930809, 0.147602},
               {0.004733, 0.691367, 0.303900}}};
    case Vision::kNormal:
      break;
  }
  return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

Vector lab(state::Rgb color) {
  const Vector linear{to_linear(color.r), to_linear(color.g), to_linear(color.b)};
  const Vector xyz = multiply({{{0.4124564, 0.3575761, 0.1804375},
                                {0.2126729, 0.7151522, 0.0721750},
                                {0.0193339, 0.1191920, 0.9503041}}},
                              linear);
  const Vector white{0.95047, 1.0, 1.08883};
  Vector f{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = xyz[i] / white[i];
    f[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

}  // namespace

state::Rgb simulate(state::Rgb color, Vision vision) {
  const Vector seen =
      multiply(matrix_of(vision), {to_linear(color.r), to_linear(color.g), to_linear(color.b)});
  return {from_linear(seen[0]), from_linear(seen[1]), from_linear(seen[2])};
}

double color_distance(state::Rgb a, state::Rgb b) {
  const Vector x = lab(a), y = lab(b);
  return std::sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                   (x[2] - y[2]) * (x[2] - y[2]));
}

}  // namespace shardlens::ui
