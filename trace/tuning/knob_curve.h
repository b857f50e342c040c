// The step time, or that of a sample, over the values of one knob, all others as they are. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/tuning/prediction.h"
#include "trace/tuning/predictor.h"

namespace shardlens::trace::tuning {

struct CurvePoint {
  std::string text;  // the value as in YAML
  double value = 0;
  double step_ns = 0;
  std::optional<Interval> difference;  // to the recorded mean; none: none, or not known how sure
  bool fits = true;                    // in the memory that there is, as far as both are known
};

// What times of a curve are divided by: 1, or, along a knob that changes how many samples a step
// has or how long each is, its samples or tokens on all ranks, so that values can be compared.
double curve_divisor(const job::Knob& knob, const job::Settings& settings, std::int64_t ranks);

struct KnobCurve {
  const job::Knob* knob = nullptr;
  double recorded_step_ns = 0;  // as all times divided by curve_divisor()
  enum class Per : std::uint8_t { kStep, kSample, kToken };
  Per per = Per::kStep;
  std::vector<CurvePoint>
      points{};  // ascending; values that nothing can be said about are left out
  struct Unpredicted {
    std::string text;
    double value = 0;
    std::string why;  // a sentence or more
  };
  std::vector<Unpredicted> unpredicted{};  // those, likewise
  // Where a point that differs has no `difference`, why, as of one of them: a sentence.
  std::string why_unsure{};
};

// Whether one point of a curve lies below another one with the whole interval of its difference to
// the recorded time, or is that time itself, and the other one lies above with its own.
bool is_surely_faster(const KnobCurve& curve, const CurvePoint& a, const CurvePoint& b);
// Of those that fit and are surely faster than `now` the surest: its interval ends lowest, as the
// advice chooses it. None of times per token, since shorter sequences are another task.
std::optional<std::size_t> surest_faster(const KnobCurve& curve, const CurvePoint& now);

// `values`: ascending. `usable_bytes`: of one rank; 0: not known.
KnobCurve knob_curve(const Predictor& predictor, const job::Settings& next, const job::Knob& knob,
                     const std::vector<std::string>& values, std::int64_t usable_bytes);

}  // namespace shardlens::trace::tuning
