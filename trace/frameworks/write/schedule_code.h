// A learning-rate schedule as Python for torch.optim.lr_scheduler.LambdaLR. Any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::frameworks {

// Lines of a function body in which `step`, counted from 0, and `steps` are known: it returns the
// rate as a share of its peak, as transformers 5.23 (optimization.py) defines the schedule of the
// same name. Without indentation but for what lies deeper; "math" may have to be imported.
std::vector<std::string> schedule_factor(const job::Settings& settings);

}  // namespace shardlens::trace::frameworks
