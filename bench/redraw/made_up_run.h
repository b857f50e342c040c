// A run on disk whose job has as many gradients or units as asked for. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>

#include "trace/job/settings/settings.h"

namespace shardlens::bench {

struct MadeUpRun {
  std::filesystem::path folder;
  std::size_t gradients = 0, units = 0;  // of its model, of which a strategy takes one or the other
};

// Of two ranks and 40 steps. Throws std::runtime_error with a message for the user.
MadeUpRun make_up_run(const std::filesystem::path& runs_dir, trace::job::Strategy strategy,
                      std::int64_t layers);

}  // namespace shardlens::bench
