// The phases of a step. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/base/text.h"

namespace shardlens::trace::base {

enum class Phase : std::uint8_t {
  kData,
  kForward,
  kBackward,
  kOptimizer,
  kEvaluation,
  kCheckpoint,
  kOther,  // never recorded as a span: what the others leave of a step
};
inline constexpr int kPhaseCount = 7;

// Its stored and displayed name.
inline std::string_view to_string(Phase phase) {
  static constexpr std::array<std::string_view, kPhaseCount> kNames{
      "data", "forward", "backward", "optimizer", "evaluation", "checkpoint", "other"};
  return enum_name<Phase::kOther>(kNames, phase);
}

}  // namespace shardlens::trace::base
