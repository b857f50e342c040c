// What follows the last backward of a step: the norm of gradients that lie on several ranks, the
// optimizer, ZeRO-1's updated parameters. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {

inline constexpr std::int64_t kNormBytes = 4;

struct UpdatePlan {
  double share = 1;        // of the recorded optimizer's work, on the fullest rank
  bool sums_norm = false;  // over all ranks, before the optimizer
  int ranks = 2;
  // ZeRO-1: bytes of each part that a rank updates and then sends to all, by owner.
  std::vector<std::vector<std::int64_t>> parts{};
};

// The update is cut into as many parts as the fullest owner has; each is sent when it is there, and
// waited for in the end.
void add_update(const UpdatePlan& plan, StepProgram& program);

}  // namespace shardlens::trace::predict
