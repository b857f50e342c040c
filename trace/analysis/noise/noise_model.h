// Is a difference between two runs more than chance? The one model that comparisons, the ledger and
// their texts ask. Definitions and sources: docs/NUMBERS.md, "Is a difference real?". Any thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/noise/same_job.h"
#include "trace/analysis/noise/step_estimates.h"

namespace shardlens::trace::analysis {

// At most so many comparisons of equals call any figure different. Half of it is spent on the
// figure that a comparison is about, whose verdict is thereby the same wherever it is shown.
inline constexpr double kFalseClaims = 0.05;
inline constexpr double kHeadlineClaims = kFalseClaims / 2;

struct NoiseRun {  // refers to what its owner keeps for as long as the model lives
  JobFacts job;
  const RunNoise* noise = nullptr;
};

struct Judgement {
  double p = 1;  // of a difference at least as large where there is none
  double standard_error = 0, degrees_of_freedom = 1;  // of the difference

  bool beyond_noise() const { return p <= kHeadlineClaims; }
  // Of the interval of the difference that misses the truth with a probability of `claims`. It is
  // without 0 exactly where p is at most that.
  double half_width(double claims) const;
};

// What the spread is known from.
struct NoiseBasis {
  std::optional<double> between_runs;  // standard deviation of step time, relative
  double degrees_of_freedom = 0;       // of it
  int runs = 0, settings = 0;          // it comes from
  std::optional<double> within_run;    // standard error of a run's mean, relative; the median
  bool drifts = false;                 // neighbouring steps resemble each other on this machine
};

class NoiseModel {
 public:
  // Of the runs in `library`, in any order, those of the job of `about` count; what is there twice,
  // as a copy or packed, counts once.
  NoiseModel(const NoiseRun& about, const std::vector<NoiseRun>& library);

  // Of second − first, each times its factor. None: cannot be known. Both may be in the library.
  struct Side {
    const NoiseRun* run = nullptr;
    double factor = 1;
  };
  std::optional<Judgement> judge(std::size_t figure, const Side& first, const Side& second) const;

  // Of something that is a part of a step's figure `whole` (an operator of compute, a bucket of
  // communication), and so is taken to scatter as much between runs, relatively. None as above, or
  // where the steps do not tell how far the part itself scatters.
  struct PartSide {
    const NoiseRun* run = nullptr;
    MeanEstimate part;
  };
  std::optional<Judgement> judge_part(std::size_t whole, const PartSide& first,
                                      const PartSide& second) const;

  const NoiseBasis& basis() const { return basis_; }
  // By how much step times of two runs of the same settings differ at most by chance (95 %), in
  // parts of their mean. None: no settings ran twice.
  std::optional<double> apart() const;
  // One sentence for the reader, without a full stop; "": no run was measured.
  std::string note() const;

 private:
  struct Group {  // runs that did the same
    job::Settings settings;
    std::vector<NoiseRun> runs;

    bool holds(const NoiseRun& run) const;
  };
  struct Pooled {  // of a figure over the groups, relative to their means
    double squares = 0, freedom = 0;
    double mean_steps = 0;         // of a run
    std::optional<double> within;  // mean squared standard error of a run's mean
    double within_freedom = 0;
  };

  void add(const NoiseRun& run);
  Pooled pool(std::size_t figure) const;
  void describe();
  // Null also where both are one recording.
  const Group* common_group(const NoiseRun& a, const NoiseRun& b) const;
  // Without what the two runs themselves add to it.
  Pooled pooled_without(std::size_t figure, const NoiseRun& a, const NoiseRun& b) const;

  std::vector<Group> groups_;
  std::array<Pooled, kStepFigures> pooled_;
  NoiseBasis basis_;
};

struct Verdict {
  bool beyond_noise = false;
  double claims = kHeadlineClaims;  // the level that p was held against

  bool operator==(const Verdict&) const = default;
};

// Which of several figures are beyond chance, given their p; the first is the headline. Wiens's
// fallback (2003): the headline at kHeadlineClaims, the others by Holm's method (1979) with the
// rest, and with all once the headline is beyond. What Holm does not come to any more has the level
// at which he stopped.
std::vector<Verdict> beyond_chance(std::optional<double> headline,
                                   const std::vector<double>& others);

}  // namespace shardlens::trace::analysis
