// What follows the last backward of a step: the norm of gradients that lie on several ranks, the
// optimizer, ZeRO-1's updated parameters. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

struct UpdatePlan {
  double share = 1;  // of the recorded optimizer's work, on the fullest rank
  // Before the optimizer, one after the other: of the gradients' norm.
  struct Sum {
    int ranks = 2;
    std::int64_t bytes = 0;
  };
  std::vector<Sum> norm_sums{};
  int ranks = 2;
  // ZeRO-1: bytes of each part that a rank updates and then sends to all, by owner.
  std::vector<std::vector<std::int64_t>> parts{};
};

// The update is cut into as many parts as the fullest owner has; each is sent when it is there, and
// waited for in the end.
void add_update(const UpdatePlan& plan, StepProgram& program);

}  // namespace shardlens::trace::predict
