// The learning rate of each step. Plain functions, any thread.
#pragma once

#include <cstdint>

#include "trace/job/settings/settings.h"

namespace shardlens::trainer::optimizer {

// Of 0-based `step` of `total_steps`: a linear rise over warmup_steps, then lr_schedule, as the
// function of that name in transformers' optimization.py. One difference: there `constant` has no
// warm-up, here it is `constant_with_warmup`.
double learning_rate_at(const trace::job::Settings& settings, std::int64_t step,
                        std::int64_t total_steps);

}  // namespace shardlens::trainer::optimizer
