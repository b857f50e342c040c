// A run beside another one: what differs, whether it is more than noise, and what explains it. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/run/comparison.h"

namespace shardlens::trace::analysis {

struct NamedTimes;

// As many runs as can be told apart side by side.
inline constexpr std::size_t kFewestCompared = 2, kMostCompared = 6;

// What a difference of step time is made of: once by what the ranks did, once by the phases they
// were in. Definitions: docs/NUMBERS.md, "What explains a difference".
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

// What else differs between two runs, in finer terms than the parts of a step. These lists do not
// sum: an operator contains others, a collective overlaps computation.
enum class DetailKind : std::uint8_t { kWork, kCollective, kTag, kMemory };
inline constexpr int kDetailKinds = 4;

struct DetailDifference {
  DetailKind kind = DetailKind::kWork;
  std::string name;  // "aten::mm", "all_reduce 4.0 MiB", "bucket 3", "activations"
  FigureUnit unit = FigureUnit::kNanoseconds;  // per step, mean over ranks; or bytes
  double first = 0, second = 0;
  std::optional<double> half_width{};  // of the interval at the level of its verdict
  std::optional<bool> beyond_noise{};
  // It ran in every step of one run and in none of the other. That is no matter of chance, so that
  // it is beyond noise with no interval: how long it took is that one run's to tell.
  bool is_only_in_one = false;

  double difference() const { return second - first; }
};

// The composition at the peak of the rank whose tensors need most, without what is outside of
// PyTorch; it sums to the peak of tensors. A category that is not told of both is left out.
std::vector<DetailDifference> memory_differences(const RunFigures& first, const RunFigures& second,
                                                 bool may_judge);

struct RunDifference {
  Comparison comparison;
  StepExplanation explanation;
  std::vector<DetailDifference> details;  // kind by kind, of each the greatest first
  // Left out of `details`: with the same number, but not the same parameters in both plans.
  std::size_t other_buckets = 0;
};

// What is compared: `times` may be null, and names are then not told apart.
struct ComparedSide {
  const RunFigures& figures;
  const NamedTimes* times = nullptr;
};
// `others`: as for compare_runs().
RunDifference difference_between(const ComparedSide& base, const ComparedSide& run,
                                 const std::vector<NoiseRun>& others = {});

}  // namespace shardlens::trace::analysis
