// The phases of a step. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

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
std::string_view to_string(Phase phase);

}  // namespace shardlens::trace::base
