// What a difference of step time between two runs is made of: once by what the ranks did, once by
// the phases they were in. Definitions: docs/NUMBERS.md, "What explains a difference". Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/run/comparison.h"

namespace shardlens::trace::analysis {

enum class StepShare : std::uint8_t {
  kCompute,
  kExposed,   // communication that nothing hides, where it is not known what of it was waiting;
  kWaiting,   // else the part before the last rank had come
  kTransfer,  // and the rest
  kExposedCopy,
  kIdle,
  kUndetailed,  // by how much steps without full detail move the mean
  kPhase,
};

struct ShareDifference {
  StepShare share = StepShare::kPhase;
  std::string_view name;               // as in Comparison::figures
  double first = 0, second = 0;        // nanoseconds per step: means over measured steps and ranks
  std::optional<double> half_width{};  // of the interval at the level of its verdict
  std::optional<bool> beyond_noise{};

  double difference() const { return second - first; }
};

struct StepExplanation {
  double first_ns = 0, second_ns = 0;  // mean step times
  // Each sums to the difference of step time; the greatest difference first. Empty where it is not
  // known of both runs. What is 0 in both is left out.
  std::vector<ShareDifference> parts, phases;

  double difference_ns() const { return second_ns - first_ns; }
};

StepExplanation explain_step(const RunFigures& first, const RunFigures& second,
                             const Comparison& comparison);

}  // namespace shardlens::trace::analysis
