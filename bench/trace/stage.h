// A stage of the benchmark runs in a process of its own, so that what it needs of memory is its
// own, too. Main thread only, before any other thread was started.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace shardlens::bench {

using Figures = std::map<std::string, double>;

// Runs `stage` in a forked process and returns what it measured. Throws std::runtime_error with the
// stage's own message where it failed.
Figures run_stage(const std::function<Figures()>& stage);

// Of this process, in MiB: now, and at most so far.
double resident_mib();
double highest_resident_mib();

}  // namespace shardlens::bench
