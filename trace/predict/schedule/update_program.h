// What follows the last backward of a step: the norm of gradients that lie on several ranks, the
// optimizer, ZeRO-1's updated parameters, the loss of all ranks. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

struct UpdatePlan {
  double share = 1;  // of the recorded optimizer's work, on the fullest rank
  struct Sum {
    int ranks = 2;
    std::int64_t bytes = 0;
    std::string what = "gradient norm";
    double share = 1;  // of steps, that have it
  };
  // Before the optimizer and in the step's end, one after the other.
  std::vector<Sum> sums_before{}, sums_behind{};
  int ranks = 2;
  // ZeRO-1: bytes of each part that a rank updates and then sends to all, by owner.
  std::vector<std::vector<std::int64_t>> parts{};
};

// The update is cut into as many parts as the fullest owner has; each is sent when it is there, and
// waited for in the end.
void add_update(const UpdatePlan& plan, StepProgram& program);

}  // namespace shardlens::trace::predict
