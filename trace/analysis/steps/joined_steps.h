// All steps of a run over its ranks, in order, put together from what each rank reports. One owner.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::trace::analysis {

class JoinedSteps {
 public:
  // The first `skip_steps` that there are, of a run that was resumed not those numbered so.
  explicit JoinedSteps(std::int64_t skip_steps) : skip_steps_(skip_steps) {}

  // Every step has a breakdown per rank; zero for a rank that has not reported it.
  void set_rank_count(std::size_t ranks);
  // How many ranks must report a step to make it complete.
  void set_world_size(std::size_t ranks);

  // Whether each rank's last step is not complete, whoever reported it: what it is of a program
  // that was interrupted.
  void leave_out_last(bool is_left_out);

  // Rows of ranks in whatever order, each (rank, index) once.
  void add(const std::vector<model::Step>& steps);
  // Its breakdown, as often as it changes.
  void set_breakdown(int rank, std::int64_t index, const StepBreakdown& breakdown);

  const std::vector<StepFigures>& steps() const { return steps_; }
  const StepFigures* find(std::int64_t index) const;

 private:
  struct Report {  // of one rank
    bool present = false;
    bool nonfinite = false;
    double loss = 0;
    double gradient_norm = 0;
  };
  struct Reports {
    std::vector<Report> ranks;
    std::size_t present = 0;
  };

  bool is_skipped(std::int64_t index) const;
  StepFigures new_step(std::int64_t index) const;
  void mark_skipped();
  // New steps are put among the others at one go.
  void make_room(const std::vector<model::Step>& rows);
  void add_row(const model::Step& row);
  std::size_t position_of(std::int64_t index) const;  // steps_.size(): there is none
  void combine_losses(std::size_t position);
  void tell_complete(std::size_t position);

  std::int64_t skip_steps_;
  std::size_t ranks_ = 0;
  std::size_t world_size_ = 0;
  std::vector<StepFigures> steps_;      // by index
  std::vector<Reports> reports_;        // of the same steps
  std::vector<std::int64_t> left_out_;  // indices
};

}  // namespace shardlens::trace::analysis
