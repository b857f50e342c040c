#include "trainer/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shardlens::trainer {

double learning_rate_at(const trace::Settings& settings, std::int64_t step,
                        std::int64_t total_steps) {
  const double peak = settings.learning_rate;
  if (step < settings.warmup_steps) {
    return peak * static_cast<double>(step) / static_cast<double>(settings.warmup_steps);
  }
  const auto decay_steps = std::max<std::int64_t>(1, total_steps - settings.warmup_steps);
  const double progress = std::min(
      1.0, static_cast<double>(step - settings.warmup_steps) / static_cast<double>(decay_steps));
  if (settings.lr_schedule == "cosine") {
    return peak * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }
  if (settings.lr_schedule == "linear") return peak * (1 - progress);
  return peak;
}

}  // namespace shardlens::trainer
