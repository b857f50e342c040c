// Snapshots as `app` would publish them, for tests and pictures: invented, but consistent figures.
#pragma once

#include <memory>

#include "ui/state/snapshot.h"

namespace shardlens::ui {

struct SampleOptions {
  int ranks = 2;
  int steps = 120;
  bool live = true;
  bool gpu = false;   // GPT-2 on GPUs, with a bucket far above its cap; else tiny on the CPU
  int operators = 0;  // per rank and step; 0: a few hundred
  bool odd = false;   // some steps without detail, one that is not finite
  std::uint64_t seed = 1;
};

state::Snapshot empty_snapshot();
state::Snapshot sample_snapshot(const SampleOptions& options = {});
state::Snapshot failed_snapshot();
state::Snapshot installing_snapshot();
state::Snapshot replay_snapshot();
// The sample with the plan card open: `model` on two machines of eight GPUs.
// With `offloads`, strategies that have no shards are refused.
state::Snapshot plan_snapshot(const char* model = "gpt2",
                              trace::job::Strategy strategy = trace::job::Strategy::kDdp,
                              bool offloads = false);

// As the program works them out, for a machine whose ranks may use `usable_bytes` each.
std::shared_ptr<const state::StrategyEstimates> sample_estimates(
    const trace::job::Settings& settings, std::int64_t usable_bytes = 0);

}  // namespace shardlens::ui
