// What is taken home: the settings of a run, and where it ran. Plain values, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::frameworks {

struct TunedJob {
  job::Settings settings;
  std::string run;         // its name, for the first line
  std::int64_t nodes = 1;  // `settings.ranks` are spread over them evenly
  bool on_gpu = false;     // what `device: auto` stood for
};

bool computes_on_gpu(const TunedJob& job);

}  // namespace shardlens::trace::frameworks
