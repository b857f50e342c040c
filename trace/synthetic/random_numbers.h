// Random numbers that are the same on every machine, which std's distributions are not. One thread.
#pragma once

#include <cstdint>

namespace shardlens::trace::synthetic {

// SplitMix64 (Steele, Lea, Flood 2014; public domain code by Vigna).
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // What a time is multiplied with: within `spread` of 1, most often near it, and one in 128 up to
  // twice that, as real durations have a tail.
  double factor(double spread) {
    const std::uint64_t bits = next();
    constexpr double kScale = 1.0 / (1 << 24);
    const double both = static_cast<double>(bits & 0xffffff) * kScale +
                        static_cast<double>(bits >> 24 & 0xffffff) * kScale;
    const double result = 1 + spread * (both - 1);
    const auto rest = static_cast<std::uint32_t>(bits >> 48);
    return (rest & 127) == 0 ? result * (1 + static_cast<double>(rest >> 7) / 512) : result;
  }

 private:
  std::uint64_t state_;
};

}  // namespace shardlens::trace::synthetic
