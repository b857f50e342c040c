// How much communication that works beside computation slows it on the same cores, from the steps
// of one run. Any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/predict/schedule/step_work.h"

namespace shardlens::trace::tuning {

// Of each nanosecond in which communication works beside computation, how much computation loses:
// 0 where cores are idle, 1 where it stands still.
struct Slowdown {
  double mean = 0.5, low = 0, high = 1;  // 95 %

  double range() const { return high - low; }
};

// Blocks of a model are alike: where one computed longer than another that did the same, beside
// more communication, that tells it. By least squares within what is alike, step by step, and
// weighed against knowing nothing (0.5, 95 % of it between 0 and 1). `gradients`: names of
// parameters, in the order in which gradients come.
Slowdown fit_slowdown(const std::vector<predict::StepWork>& steps,
                      const std::vector<std::string>& gradients);

}  // namespace shardlens::trace::tuning
