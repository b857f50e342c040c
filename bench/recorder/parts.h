// What `bench recorder` measures, part by part. The main thread.
#pragma once

#include <string>
#include <vector>

#include "bench/bench_rows.h"
#include "trace/base/result.h"

namespace shardlens::bench {

using Rows = std::vector<BenchRow>;

// From the queue to the file: events per second of CPU, losses, and the share of the checksums.
trace::base::Result<void> measure_throughput(Rows& rows);
trace::base::Result<void> measure_losses(Rows& rows);
trace::base::Result<void> measure_checksums(Rows& rows);

void measure_allocations(Rows& rows);

// Steps of a small training loop with a recorder, with an observer that does nothing, and with
// none, in turn; `budget`: how much longer a recorded step may be.
struct StepJob {
  std::string what;
  int width = 0;
  int blocks = 0;
  double budget = 0;
  bool on_one_core = false;  // shared by the loop and the recorder's threads
};
trace::base::Result<void> measure_steps(const StepJob& job, Rows& rows);

}  // namespace shardlens::bench
