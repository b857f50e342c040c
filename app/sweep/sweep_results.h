// What came of a sweep's runs, and what follows from it: who is run next, who cannot win any more.
// Pure: the same results, the same answers, so that a sweep goes on where it was. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/sweep/sweep_plan.h"
#include "trace/analysis/noise/round_noise.h"

namespace shardlens::app::sweep {

struct RunMeasure {
  double step_ns = 0;  // mean over measured steps
  std::optional<double> exposed_ns;
  std::optional<double> tokens_per_s;  // of all ranks together
  // Of the rank that needs most: with what is outside PyTorch, and of tensors alone, which are the
  // same in every run.
  std::optional<double> peak_memory_bytes, peak_tensor_bytes;
  bool is_padded = false;  // its texts: of what they take shapes tell nothing
  double seconds = 0;      // from its start to its end
};

struct SlotResult {
  std::string run;  // its name
  std::optional<RunMeasure> measure;
  std::string failure;                       // why there is no measure
  std::filesystem::path folder{};            // of the run
  std::string failed_before{};               // why its first attempt failed; "": there was but one
  std::optional<PredictedCost> predicted{};  // of a search; none: nothing was
  std::string file_name{};                   // of the run in the library; "": it came to no run

  // A run that fails is run once more when all others are done: it may have been an accident.
  bool is_to_be_retried() const { return !failure.empty() && failed_before.empty(); }
};
using SweepResults = std::map<Slot, SlotResult>;  // of what has ended

struct PointState {
  std::string failure;        // of one of its runs; before that one, it is not run on
  std::string stopped_early;  // why; "": it is not
  bool is_out() const { return !failure.empty() || !stopped_early.empty(); }
};
// By point, as the rounds before this one decide it.
std::vector<PointState> states_at(const SweepPlan& plan, const SweepResults& results, int round);
// As it is now: stopped by the rounds that are over, failed in any.
std::vector<PointState> states_now(const SweepPlan& plan, const SweepResults& results);

// What is to be run next: round by round, then once more what has failed, and what its point has
// missed since. None: all is done.
std::optional<Slot> next_slot(const SweepPlan& plan, const SweepResults& results);

// How many runs there were, those that were made a second time counted twice.
std::size_t runs_made(const SweepResults& results);

// How long runs took that ended with a measurement, of one point or of all. None: none has.
std::optional<double> mean_seconds(const SweepResults& results,
                                   std::optional<std::size_t> point = {});

// How many runs are left unless more points are stopped, and how long they take by those that have
// ended. Seconds: not known before one has.
struct WorkLeft {
  int runs = 0;
  std::optional<double> seconds;
};
WorkLeft work_left(const SweepPlan& plan, const SweepResults& results);

// Times of steps are comparable only where each does the same work; else those per token are. Also
// of a search for memory one of these two.
Goal goal_of(const SweepPlan& plan, const SweepResults& results);
// What is to be small: nanoseconds per step or per token of all ranks, or bytes. None: the run does
// not know it.
std::optional<double> cost_of(const RunMeasure& run, Goal goal);
// The costs of those runs of a point whose cost is known, from a round on.
std::vector<double> costs_of(const SweepResults& results, std::size_t point, Goal goal,
                             int first_round = 0);

// The costs of the first so many rounds. A search has none: what it runs together, results decide.
trace::analysis::RoundNoise noise_of(const SweepPlan& plan, const SweepResults& results, Goal goal,
                                     int rounds);
// The lowest level of those that are not out and failed in no round of the plan; none: no such
// point was measured.
std::optional<std::size_t> best_of(const SweepPlan& plan, const trace::analysis::RoundNoise& noise,
                                   const std::vector<PointState>& states,
                                   const SweepResults& results);
// In at most so many sweeps the truly best point is stopped early.
inline constexpr double kFalseStops = 0.01;
// With which probability a point may be called slower than the best by chance: when it is to be
// stopped early, after any round; in the end. Bonferroni, over the other points and, before the
// end, over the rounds: in at most kFalseStops or kFalseClaims of sweeps any of them is false.
double claims_of_a_stop(const SweepPlan& plan);
double claims_of_the_end(const SweepPlan& plan);

}  // namespace shardlens::app::sweep
