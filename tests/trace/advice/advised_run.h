// A made-up run of two ranks for the tests of rules: a RecordedJob, from which the predictor is
// made, and the figures and events that rules look at.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/trace/tuning/recorded_job.h"
#include "trace/advice/advisor.h"

namespace shardlens::trace::advice {

using tuning::kMib;
using tuning::kMs;

struct AdvisedRun {
  AdvisedRun();

  tuning::RecordedJob job;
  bool predicts = true;
  std::string refused = "Nothing is predicted of this run.";
  // Of one rank's step; its time is the job's.
  std::function<void(std::int64_t step, int rank, analysis::StepBreakdown&)> breakdown;
  // Of exposed time, for other ranks.
  std::function<std::int64_t(std::int64_t step, int rank)> wait_ns = [](auto, auto) { return 0; };
  std::function<model::Batch(const analysis::StepFigures& step, int rank)> events;
  // Last, when everything else is there.
  std::function<void(analysis::RunFigures&)> change = [](auto&) {};

  analysis::RunFigures& figures() { return job.figures; }
  job::Settings& settings() { return job.figures.info.settings; }
  // A row of the table of collectives, as of a bucket.
  void add_collective(const std::string& tag, std::int64_t bytes, double transfer_ns,
                      double exposed_ns);
  // Of one plan, in the order of reduction: the sizes of its tensors.
  void set_buckets(const std::vector<std::vector<std::int64_t>>& tensors);
  // What each rank had allocated at its peak, of how much, for a model whose shape is known.
  void set_memory(std::int64_t device_bytes);

  // Once.
  std::vector<Advice> advise();
  const RunFacts& facts();

 private:
  void make();

  std::optional<StepSample> sample_;
  std::optional<tuning::Predictor> predictor_;
  std::optional<RunFacts> facts_;
};

// The one of the rule; none: it was silent, or said something worse than what was taken.
std::optional<Advice> of_rule(const std::vector<Advice>& all, std::string_view rule);
// What the rule says by itself.
std::optional<Advice> asked(AdvisedRun& run, std::string_view rule);

}  // namespace shardlens::trace::advice
