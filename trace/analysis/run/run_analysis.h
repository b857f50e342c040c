// Turns batches into figures, incrementally: feed it what the reader polls, ask for figures at any
// time. A finished file fed at once gives the same figures as the same file fed while it grew.
// Not thread-safe; one worker owns it.
#pragma once

#include <memory>

#include "trace/analysis/figures/figures.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

class RunAnalysis {
 public:
  explicit RunAnalysis(model::RunInfo info);
  ~RunAnalysis();
  RunAnalysis(RunAnalysis&&) noexcept;
  RunAnalysis& operator=(RunAnalysis&&) noexcept;

  // Rows of one rank may arrive late by a few steps: the steps that they touch are computed again.
  void add(const model::Batch& batch);
  void set_info(model::RunInfo info);  // status, reason and end change while a run is live
  // Of a run that has ended, too: replay reads only the beginning. Steps whose end a GPU's records
  // have not reached then await their details, as they do of a run that is live.
  void expect_more(bool more_follows);

  // Steps in order; reference valid until the next add().
  const std::vector<StepFigures>& steps() const;
  const model::StringTable& strings() const;
  // Everything; cost grows with the number of steps, not of events.
  RunFigures figures() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trace::analysis
