// Runs with what is needed to tell noise from a difference; refer to their figures. Any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/noise/noise_model.h"
#include "trace/analysis/noise/same_job.h"

namespace shardlens::trace::analysis {

struct ComparedRun {
  explicit ComparedRun(const RunFigures& run)
      : figures(run), machine(machine_of(run.ranks)), noise(noise_of(run)) {}
  ComparedRun(const ComparedRun&) = delete;
  ComparedRun& operator=(const ComparedRun&) = delete;

  NoiseRun for_model() const { return {{&figures.info, machine.hosts, machine.devices}, &noise}; }

  const RunFigures& figures;
  const MachineNames machine;
  const RunNoise noise;
};

class ComparedPair {
 public:
  // `others`: more runs of the library, from which the spread between runs is learnt.
  ComparedPair(const RunFigures& first_run, const RunFigures& second_run,
               std::vector<NoiseRun> others)
      : first(first_run), second(second_run), model(first_noise, with_both(std::move(others))) {}

  const ComparedRun first, second;
  const NoiseRun first_noise = first.for_model(), second_noise = second.for_model();
  const NoiseModel model;

 private:
  std::vector<NoiseRun> with_both(std::vector<NoiseRun> runs) const {
    runs.push_back(first_noise);
    runs.push_back(second_noise);
    return runs;
  }
};

struct Judged {
  std::size_t place = 0;  // among the differences that are tested together
  Judgement judgement;
};

// Returns the headline's verdict, and gives those judged theirs.
template <typename Difference>
Verdict decide(std::optional<double> headline, const std::vector<Judged>& judged,
               std::vector<Difference>& differences) {
  std::vector<double> chances;
  for (const Judged& one : judged) chances.push_back(one.judgement.p);
  const auto verdicts = beyond_chance(headline, chances);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    Difference& difference = differences[judged[i].place];
    difference.beyond_noise = verdicts[i + 1].beyond_noise;
    difference.half_width = judged[i].judgement.half_width(verdicts[i + 1].claims);
  }
  return verdicts.front();
}

}  // namespace shardlens::trace::analysis
