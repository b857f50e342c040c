// What a few steps of a run tell beyond its figures: gradients that came, kernels and their
// launches, when gathers were asked for. Fed with what lies in each step's time; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/predict/record/recorded_steps.h"

namespace shardlens::trace::advice {

struct SampledKernels {  // of one rank, over all sampled steps
  std::int64_t steps = 0;
  std::int64_t step_ns = 0;  // of them, their sum
  std::int64_t count = 0;
  std::int64_t short_count = 0;  // took less than launching a kernel did, in the median
  std::int64_t launch_ns = 0;    // that median; 0: launches were not recorded
  // For how long no kernel ran, and the next one had not been launched: the host was late.
  std::int64_t host_late_ns = 0;
  // The longest such time.
  std::int64_t longest_start_ns = 0, longest_end_ns = 0, longest_step = -1;
};

struct SampledCall {  // a collective of one rank
  std::int64_t step = 0;
  int rank = 0;
  std::string tag;  // as in the table of collectives: "bucket 3", "blocks.3 backward gather"
  std::int64_t enqueued_ns = 0, start_ns = 0, end_ns = 0;
  // When the host asked for it, the rank's link had nothing to do: earlier would have been
  // possible.
  bool found_link_idle = false;
};

class StepSample {
 public:
  static constexpr std::size_t kMostSteps = 6;

  // The measured steps with full detail to be read: at most kMostSteps, evenly over the run.
  static std::vector<const analysis::StepFigures*> choose(const analysis::RunFigures& figures);

  // Strings; before any step.
  void learn_facts(const model::Batch& batch);
  // Of one rank, all that lies in the step's time.
  void add(const analysis::StepFigures& step, const model::Batch& batch);

  std::size_t steps() const { return steps_.size(); }
  // How many gradients arrived: of each step and rank whose operators were recorded.
  const std::map<std::pair<std::int64_t, int>, std::int64_t>& gradients() const {
    return gradients_;
  }
  const std::map<int, SampledKernels>& kernels() const { return kernels_; }  // by rank
  const std::vector<SampledCall>& calls() const { return calls_; }

 private:
  void add_gradients(const analysis::StepFigures& step, const model::EventRun& run);
  void add_kernels(const analysis::StepFigures& step, int rank, const model::Batch& batch);
  void add_calls(const analysis::StepFigures& step, int rank, const model::Batch& batch);

  model::StringTable strings_;
  predict::GradientNodes gradient_nodes_;
  std::set<std::int64_t> steps_;
  std::map<std::pair<std::int64_t, int>, std::int64_t> gradients_;
  std::map<int, SampledKernels> kernels_;
  std::vector<SampledCall> calls_;
};

}  // namespace shardlens::trace::advice
