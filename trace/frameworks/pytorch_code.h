// A job's settings as a Python module for PyTorch 2.11: the same buckets or units, precision,
// optimizer and schedule, so that what was tuned here goes into a program of one's own. Any thread.
#pragma once

#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

// A module of functions: begin(), parallelize(), make_optimizer(), make_schedule(), train_step().
// `text` lists what is left out, too; its heading says all the rest.
FrameworkFile pytorch_code(const TunedJob& job);

}  // namespace shardlens::trace::frameworks
