// How much communication that works beside computation slows it on the same cores, from the steps
// of one run. Any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/predict/record/step_work.h"

namespace shardlens::trace::tuning {

// Of each nanosecond in which communication works beside computation, how much computation loses:
// 0 where cores are idle, 1 where it stands still.
struct Slowdown {
  double mean = 0, low = 0, high = 0;  // 95 %

  double range() const { return high - low; }
};

// Before any run tells: anything between cores that are idle and cores that are needed.
inline constexpr Slowdown kOfCores{0.5, 0, 1};
// NCCL's kernels take up to 32 of the 132 streaming multiprocessors of an H100, and less of its
// memory's bandwidth.
inline constexpr Slowdown kOfMultiprocessors{0.12, 0, 0.24};

// Blocks of a model are alike: where one computed longer than another that did the same, beside
// more communication, that tells it. By least squares within what is alike, step by step, and
// weighed against `before`. `gradients`: names of parameters, in the order in which gradients come.
Slowdown fit_slowdown(const std::vector<predict::StepWork>& steps,
                      const std::vector<std::string>& gradients, const Slowdown& before);

}  // namespace shardlens::trace::tuning
