#include "trainer/optimizer/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

namespace shardlens::trainer {

namespace {

// A schedule after its warm-up.
struct Place {
  const trace::Settings& settings;
  double peak = 0;
  double step = 0;    // counted from 0, at least `warmup`
  double warmup = 0;  // steps
  double total = 0;   // steps

  double progress() const { return (step - warmup) / std::max(1.0, total - warmup); }
  double cycles(double automatic) const { return chosen(settings.lr_cycles, automatic); }
  double lowest(double automatic) const { return chosen(settings.lr_min_ratio, automatic); }

 private:
  static double chosen(double setting, double automatic) {
    return setting == static_cast<double>(trace::kAuto) ? automatic : setting;
  }
};

// What the rate is of its peak.
using Factor = double (*)(const Place&);

double constant(const Place&) { return 1; }

double linear(const Place& at) {
  return std::max(0.0, (at.total - at.step) / std::max(1.0, at.total - at.warmup));
}

double wave(double progress, double cycles) {
  return 0.5 * (1 + std::cos(std::numbers::pi * cycles * 2 * progress));
}

double cosine(const Place& at) { return std::max(0.0, wave(at.progress(), at.cycles(0.5))); }

double cosine_with_restarts(const Place& at) {
  if (at.progress() >= 1) return 0;
  const double within = std::fmod(at.cycles(1) * at.progress(), 1.0);
  return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * within)));
}

double cosine_with_min_lr(const Place& at) {
  const double lowest = at.lowest(0.1);
  return std::max(0.0, wave(at.progress(), at.cycles(0.5)) * (1 - lowest) + lowest);
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
  if (at.settings.lr_decay_steps != trace::kAuto) {
    decay = static_cast<double>(at.settings.lr_decay_steps);
  }
  const double lowest = at.lowest(0);
  const double decay_begins = std::max(at.warmup, at.total - decay);
  if (at.step < decay_begins) return 1;
  if (at.step >= decay_begins + decay) return lowest;
  const double progress = (at.step - decay_begins) / decay;
  return std::max(0.0, wave(progress, at.cycles(0.5)) * (1 - lowest) + lowest);
}

struct Schedule {
  std::string_view name;
  Factor factor;
};
constexpr std::array<Schedule, 9> kSchedules{{
    {"constant", constant},
    {"constant_with_warmup", constant},
    {"linear", linear},
    {"cosine", cosine},
    {"cosine_with_restarts", cosine_with_restarts},
    {"cosine_with_min_lr", cosine_with_min_lr},
    {"polynomial", polynomial},
    {"inverse_sqrt", inverse_sqrt},
    {"warmup_stable_decay", warmup_stable_decay},
}};

// Where the warm-up begins, as a share of the peak.
double first_factor(const Place& at) {
  return at.settings.lr_schedule == "warmup_stable_decay" ? at.lowest(0) : 0;
}

}  // namespace

double learning_rate_at(const trace::Settings& settings, std::int64_t step,
                        std::int64_t total_steps) {
  const Place at{settings, settings.learning_rate, static_cast<double>(step),
                 static_cast<double>(settings.warmup_steps), static_cast<double>(total_steps)};
  if (step < settings.warmup_steps) {
    const double first = first_factor(at);
    return at.peak * (at.step / at.warmup * (1 - first) + first);
  }
  const auto schedule = std::ranges::find(kSchedules, settings.lr_schedule, &Schedule::name);
  return schedule == kSchedules.end() ? at.peak : at.peak * schedule->factor(at);
}

}  // namespace shardlens::trainer
