#include "trace/synthetic/synthetic_gpu.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/model/gpu_counters.h"

namespace shardlens::trace::synthetic {

namespace {

constexpr std::int64_t kSampleNs = 200'000'000;
constexpr double kWattsAtMost = 700, kMegahertzAtMost = 1980, kMemoryMegahertz = 2619;
constexpr double kColdest = 41, kWarmest = 68, kHot = 87, kSecondsToWarm = 20;

}  // namespace

void SyntheticGpu::sample(const RankStepTimes& times, std::vector<model::CounterSample>& to) {
  if (first_ns_ == 0) first_ns_ = next_ns_ = times.start;
  for (; next_ns_ < times.end; next_ns_ += kSampleNs) sample_at(next_ns_, times.is_slow, to);
  // The one that tells of the heat may lie in a step that is over before the next sample.
  if (times.is_slow && to.empty()) sample_at(times.end - 1, true, to);
}

void SyntheticGpu::sample_at(std::int64_t time_ns, bool is_hot,
                             std::vector<model::CounterSample>& to) {
  const double seconds = static_cast<double>(time_ns - first_ns_) * 1e-9;
  const auto noise = [this](double most) { return most * (2 * random_.uniform() - 1); };
  double power = 641 + 22 * std::sin(seconds / 2.3 + rank_) + noise(30);
  if (is_hot) power = 540 + noise(15);
  const bool is_capped = power >= kWattsAtMost - 8;
  power = std::min(power, kWattsAtMost);
  const double clock = is_hot      ? 1380 + noise(30)
                       : is_capped ? 1740 + noise(30)
                                   : kMegahertzAtMost - 60 + noise(45);
  const double warmth = 1 - std::exp(-(seconds + 6) / kSecondsToWarm);
  const double degrees = is_hot ? kHot : kColdest + (kWarmest - kColdest) * warmth + noise(1);
  const auto limits =
      static_cast<double>((is_hot ? std::uint32_t{model::kLimitSoftwareThermal} : 0) |
                          (is_capped ? std::uint32_t{model::kLimitPowerCap} : 0));
  // In the order of kGpuCounters.
  const std::array<double, model::kGpuCounters.size()> values{std::round(97 + noise(2.4)),
                                                              std::round(power * 10) / 10,
                                                              std::round(clock / 15) * 15,
                                                              std::round(degrees),
                                                              std::round(46 + noise(6)),
                                                              kMemoryMegahertz,
                                                              61.3e9,
                                                              168e9 + noise(25e9),
                                                              168e9 + noise(25e9),
                                                              1.1e9 + noise(0.4e9),
                                                              0.7e9 + noise(0.3e9),
                                                              kWattsAtMost,
                                                              limits};
  for (std::size_t i = 0; i < values.size(); ++i) {
    to.push_back({rank_, shape_.counters[i], shape_.counter_units[i], time_ns, values[i]});
  }
}

}  // namespace shardlens::trace::synthetic
