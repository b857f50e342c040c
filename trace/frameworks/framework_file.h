// A job's settings as another framework's configuration file. Plain values, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/frameworks/left_out.h"

namespace shardlens::trace::frameworks {

struct FrameworkFile {
  std::string text;
  std::string start;                      // the command line that trains with it, as "train.py"
  std::vector<LeftOut> left_out;          // settings that the file cannot say
  std::vector<std::string> remarks;       // what that framework does otherwise; no full stop
  std::vector<std::string_view> written;  // knobs that the file says, at their defaults, too
};

// `start`, what is left out and the remarks, a line each.
std::string remarks_text(const FrameworkFile& file);

}  // namespace shardlens::trace::frameworks
