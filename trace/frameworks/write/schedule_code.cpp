#include <string_view>

#include "trace/frameworks/write/framework_export.h"

namespace shardlens::trace::frameworks {

namespace {

using job::kAuto;
using job::LrSchedule;
using Lines = std::vector<std::string>;

class ScheduleFactor {
 public:
  explicit ScheduleFactor(const job::Settings& settings) : s_(settings) {}

  Lines lines() const {
    Lines all;
    if (s_.warmup_steps > 0) {
      all.push_back("if step < " + text("warmup_steps") + ":");
      all.push_back("    return " + warmup());
    }
    for (std::string& line : after_warmup()) all.push_back(std::move(line));
    return all;
  }

 private:
  std::string text(std::string_view knob) const { return value_text(s_, *job::find_knob(knob)); }
  std::string or_else(double value, std::string_view knob, const char* automatic) const {
    return value == static_cast<double>(kAuto) ? automatic : text(knob);
  }
  std::string cycles(const char* automatic) const {
    return or_else(s_.lr_cycles, "lr_cycles", automatic);
  }
  std::string lowest(const char* automatic) const {
    return or_else(s_.lr_min_ratio, "lr_min_ratio", automatic);
  }

  std::string warmup() const {
    const std::string risen = "step / " + text("warmup_steps");
    if (s_.lr_schedule != LrSchedule::kWarmupStableDecay || lowest("0") == "0") return risen;
    return risen + " * (1 - " + lowest("0") + ") + " + lowest("0");
  }
  std::string progress() const {
    return "progress = (step - " + text("warmup_steps") + ") / max(1, steps - " +
           text("warmup_steps") + ")";
  }
  static std::string wave(const std::string& cycles) {
    return "0.5 * (1 + math.cos(math.pi * 2 * " + cycles + " * progress))";
  }
  static std::string above(const std::string& share, const std::string& lowest) {
    return "return max(0.0, " + share + " * (1 - " + lowest + ") + " + lowest + ")";
  }

  Lines after_warmup() const {
    switch (s_.lr_schedule) {
      case LrSchedule::kConstant:
      case LrSchedule::kConstantWithWarmup:
        return {"return 1.0"};
      case LrSchedule::kLinear:
        return {progress(), "return max(0.0, 1 - progress)"};
      case LrSchedule::kCosine:
        return {progress(), "return max(0.0, " + wave(cycles("0.5")) + ")"};
      case LrSchedule::kCosineWithMinLr:
        return {progress(), above(wave(cycles("0.5")), lowest("0.1"))};
      case LrSchedule::kCosineWithRestarts:
        return {progress(), "if progress >= 1:", "    return 0.0",
                "return 0.5 * (1 + math.cos(math.pi * (" + cycles("1") + " * progress % 1)))"};
      case LrSchedule::kPolynomial:
        return polynomial();
      case LrSchedule::kInverseSqrt: {
        const std::string scale = s_.warmup_steps > 0 ? text("warmup_steps") : "10000";
        return {"return (1 + (step - " + text("warmup_steps") + ") / " + scale + ") ** -0.5"};
      }
      case LrSchedule::kWarmupStableDecay:
        return warmup_stable_decay();
    }
    return {"return 1.0"};
  }

  // Without a share it ends at transformers' lr_end, which is a rate: 1e-7.
  Lines polynomial() const {
    const bool has_lowest = s_.lr_min_ratio != static_cast<double>(kAuto);
    const std::string automatic =
        s_.learning_rate > 0 ? "min(1.0, 1e-7 / " + text("learning_rate") + ")" : "1.0";
    return {progress(), "lowest = " + (has_lowest ? text("lr_min_ratio") : automatic),
            "return (1 - lowest) * max(0.0, 1 - progress) ** " + text("lr_power") + " + lowest"};
  }

  Lines warmup_stable_decay() const {
    const bool has_decay = s_.lr_decay_steps != kAuto;
    return {"decay = " + (has_decay ? text("lr_decay_steps") : "max(1, steps // 10)"),
            "begin = steps - decay",
            "progress = min(1.0, max(0, step - begin) / decay)",
            "if progress >= 1:",
            "    return " + lowest("0"),
            above(wave(cycles("0.5")), lowest("0"))};
  }

  const job::Settings& s_;
};

}  // namespace

std::vector<std::string> schedule_factor(const job::Settings& settings) {
  return ScheduleFactor(settings).lines();
}

}  // namespace shardlens::trace::frameworks
