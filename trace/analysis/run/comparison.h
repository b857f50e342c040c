// Two runs side by side: which settings differ, which figures, and whether that is more than
// chance. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/noise/noise_model.h"

namespace shardlens::trace::analysis {

class ComparedPair;

struct SettingDifference {
  std::string name;
  std::string first, second;  // values as in YAML
};

enum class FigureUnit : std::uint8_t { kNanoseconds, kBytes, kPerSecond, kFraction, kNone };

struct FigureDifference {
  std::string_view name;  // "step", "exposed", "tokens per second", …
  FigureUnit unit = FigureUnit::kNone;
  double first = 0, second = 0;
  double difference = 0;           // second − first
  std::optional<double> relative;  // difference ÷ first; none when first is 0
  // Half the width of the difference's interval, at the level of its verdict: 0 lies outside of it
  // exactly where the verdict is beyond noise.
  std::optional<double> half_width;
  // Whether the difference exceeds what chance explains; none where it cannot be judged.
  std::optional<bool> beyond_noise;
};

// Bytes of tensors do not scatter between runs, so that noise excuses no difference; but nobody
// cares for one below what CUDA's caching allocator rounds to (kMinBlockSize in PyTorch's
// c10/cuda/CUDACachingAllocator.h), or below a thousandth of the peak that it is a part of.
inline constexpr double kAllocationGranule = 512, kShareThatMatters = 0.001;
bool is_same_memory(double first, double second, double peak);

// Runs that differ only in their ranks, from the one with fewer to the one with more.
enum class ScalingKind : std::uint8_t {
  kWeak,    // the work per rank is the same
  kStrong,  // the effective batch is the same
};
struct Scaling {
  ScalingKind kind = ScalingKind::kWeak;
  int from_ranks = 0, to_ranks = 0;
  double speedup = 0;     // samples/s with more ranks ÷ with fewer
  double efficiency = 0;  // speedup ÷ (to_ranks ÷ from_ranks)
  // On a CPU more ranks are more processes on the same cores: this is not what GPUs would gain.
  bool on_same_cores = false;
};
std::string_view to_string(ScalingKind kind);  // "weak", "strong"

// In either order. None: the ranks are equal, more than ranks and further hosts for them differs,
// or a speed is not known.
std::optional<Scaling> scaling_between(const JobFacts& a, const RunSummary& a_summary,
                                       const JobFacts& b, const RunSummary& b_summary);

struct Comparison {
  bool knows_settings = true;               // of both: another program tells none
  std::vector<SettingDifference> settings;  // in table order
  std::vector<FigureDifference> figures;    // those that both runs have
  // What the ledger shows: of step time, or of tokens/s once batch, sequence or ranks differ.
  bool by_throughput = false;
  std::optional<double> relative;
  std::optional<bool> beyond_noise;
  std::vector<OtherJob> other_job;  // why nothing is judged: the runs are of different jobs
  bool same_work = true;            // else only rates are judged
  NoiseBasis noise;
  std::string noise_note;
  // The last whose loss both read, or, where there is none, that both executed; -1: none.
  std::int64_t common_step = -1;
  std::optional<double> first_loss, second_loss;  // at the common step
  std::optional<Scaling> scaling;
};

Comparison compare_runs(const ComparedPair& runs);
// `others`: as for ComparedPair.
Comparison compare_runs(const RunFigures& first, const RunFigures& second,
                        const std::vector<NoiseRun>& others = {});

}  // namespace shardlens::trace::analysis
