// A job's settings as a Python module for PyTorch 2.11: the same buckets or units, precision,
// optimizer and schedule, so that what was tuned here goes into a program of one's own. Any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/frameworks/framework_file.h"
#include "trace/frameworks/left_out.h"

namespace shardlens::trace::frameworks {

struct PytorchCode {
  std::string text;
  std::vector<LeftOut> left_out;  // `text` lists them, too
};

// A module of functions: begin(), parallelize(), make_optimizer(), make_schedule(), train_step().
PytorchCode pytorch_code(const TunedJob& job);

}  // namespace shardlens::trace::frameworks
