// A run with what is needed to tell noise from a difference; refers to its figures. Any thread.
#pragma once

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

inline std::vector<NoiseRun> with_compared(std::vector<NoiseRun> runs, const ComparedRun& first,
                                           const ComparedRun& second) {
  runs.push_back(first.for_model());
  runs.push_back(second.for_model());
  return runs;
}

}  // namespace shardlens::trace::analysis
