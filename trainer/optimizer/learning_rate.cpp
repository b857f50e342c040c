#include "trainer/optimizer/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shardlens::trainer::optimizer {

namespace {

// A schedule after its warm-up.
struct Place {
  const trace::job::Settings& settings;
  double peak = 0;
  double step = 0;    // counted from 0, at least `warmup`
  double warmup = 0;  // steps
  double total = 0;   // steps

  double progress() const { return (step - warmup) / std::max(1.0, total - warmup); }
  double cycles(double automatic) const { return chosen(settings.lr_cycles, automatic); }
  double lowest(double automatic) const { return chosen(settings.lr_min_ratio, automatic); }

 private:
  static double chosen(double setting, double automatic) {
    return setting == static_cast<double>(trace::job::kAuto) ? automatic : setting;
  }
};

double linear(const Place& at) {
  return std::max(0.0, (at.total - at.step) / std::max(1.0, at.total - at.warmup));
}

double wave(double progress, double cycles) {
  return 0.5 * (1 + std::cos(std::numbers::pi * cycles * 2 * progress));
}

double cosine(const Place& at, double progress, double lowest) {
  return std::max(0.0, wave(progress, at.cycles(0.5)) * (1 - lowest) + lowest);
}

double cosine_with_restarts(const Place& at) {
  if (at.progress() >= 1) return 0;
  return std::max(0.0, wave(std::fmod(at.cycles(1) * at.progress(), 1.0), 0.5));
}

double polynomial(const Place& at) {
  // transformers' lr_end, which is a rate and no share.
  const double automatic = std::min(1.0, 1e-7 / at.peak);
  const double lowest = at.lowest(automatic);
  if (at.step > at.total) return lowest;
  const double remaining = 1 - at.progress();
  return (1 - lowest) * std::pow(std::max(0.0, remaining), at.settings.lr_power) + lowest;
}

double inverse_sqrt(const Place& at) {
  // transformers' time scale: the warm-up, or 10,000 steps without one.
  const double scale = at.warmup > 0 ? at.warmup : 10000;
  return 1 / std::sqrt((at.step + scale - at.warmup) / scale);
}

double warmup_stable_decay(const Place& at) {
  double decay = std::max(1.0, std::floor(at.total / 10));
  if (at.settings.lr_decay_steps != trace::job::kAuto) {
    decay = static_cast<double>(at.settings.lr_decay_steps);
  }
  const double lowest = at.lowest(0);
  const double decay_begins = at.total - decay;  // which may lie within the warm-up
  if (at.step < decay_begins) return 1;
  if (at.step >= decay_begins + decay) return lowest;
  return cosine(at, (at.step - decay_begins) / decay, lowest);
}

// What the rate is of its peak, once it has warmed up.
double factor_at(const Place& at) {
  switch (at.settings.lr_schedule) {
    case trace::job::LrSchedule::kCosine:
      return cosine(at, at.progress(), 0);
    case trace::job::LrSchedule::kLinear:
      return linear(at);
    case trace::job::LrSchedule::kConstant:
    case trace::job::LrSchedule::kConstantWithWarmup:
      return 1;
    case trace::job::LrSchedule::kCosineWithRestarts:
      return cosine_with_restarts(at);
    case trace::job::LrSchedule::kCosineWithMinLr:
      return cosine(at, at.progress(), at.lowest(0.1));
    case trace::job::LrSchedule::kPolynomial:
      return polynomial(at);
    case trace::job::LrSchedule::kInverseSqrt:
      return inverse_sqrt(at);
    case trace::job::LrSchedule::kWarmupStableDecay:
      return warmup_stable_decay(at);
  }
  return 1;
}

// Where the warm-up begins, as a share of the peak.
double first_factor(const Place& at) {
  return at.settings.lr_schedule == trace::job::LrSchedule::kWarmupStableDecay ? at.lowest(0) : 0;
}

}  // namespace

double learning_rate_at(const trace::job::Settings& settings, std::int64_t step,
                        std::int64_t total_steps) {
  const Place at{settings, settings.learning_rate, static_cast<double>(step),
                 static_cast<double>(settings.warmup_steps), static_cast<double>(total_steps)};
  if (step < settings.warmup_steps) {
    const double first = first_factor(at);
    return at.peak * (at.step / at.warmup * (1 - first) + first);
  }
  return at.peak * factor_at(at);
}

}  // namespace shardlens::trainer::optimizer
