// A made-up job whose computation, link and contention are known: it is played under any settings,
// and recorded as a run would be. What the trainer does is written down here once more, on its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/trace/tuning/played_script.h"
#include "trace/analysis/figures/figures.h"
#include "trace/job/settings/settings.h"
#include "trace/model/events.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::tuning {

struct PlayedSettings {
  double forward_ns = 40e6, backward_ns = 80e6, optimizer_ns = 10e6;
  // Of an all-reduce between the two ranks, as of each function by what it moves of that.
  double latency_ns = 0.3e6, ns_per_byte = 2;
  double held_up_ns = 0;  // by so much one call of four takes longer: another one in each step
  double slowdown = 0;    // while a call moves, computation loses this share of its pace
  double noise = 0.01;    // of what a layer computes in a step, either way
  double late = 0.01;     // by how much rank 1 computes longer
  double root_share = 0;  // of forward and of backward, in the embedding: where it is known
  unsigned seed = 0;
  std::int64_t steps = 6;
  std::int64_t layers = 0;  // of the model; 0: those of the preset tiny
};

struct PlayedStep {
  double step_ns = 0;     // of the rank that ends last
  double exposed_ns = 0;  // waited, mean over ranks
};

class PlayedJob {
 public:
  explicit PlayedJob(const PlayedSettings& settings);

  PlayedStep play(const job::Settings& settings, std::int64_t step) const;

  // The rows of a run under `settings`, rank after rank, step after step. Strings have the same
  // numbers in each step.
  std::vector<model::Batch> rows(const job::Settings& settings) const;
  // With them; `figures` are that run's.
  predict::RecordedSteps record(const job::Settings& settings) const;
  analysis::RunFigures figures(const job::Settings& settings) const;

 private:
  struct Layer;
  class Writer;

  static std::vector<Layer> layers_of(const job::ModelShape& shape, std::int64_t sequence);
  predict::PlannedJob planned(const job::Settings& settings) const;
  PlayedScript script(const job::Settings& settings, std::int64_t step) const;
  double computes_ns(double ns, std::int64_t step, int rank, int layer, bool forward) const;
  double held_up_ns(std::int64_t step, std::size_t call) const;

  PlayedSettings played_;
  job::ModelShape shape_;
};

}  // namespace shardlens::trace::tuning
