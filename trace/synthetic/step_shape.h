// What one training step consists of in a synthetic run: a decoder language model of 24 blocks
// under DDP, kernel by kernel. Plain values, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/events.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::synthetic {

// One kernel with the operators that lead to its launch.
struct KernelCall {
  std::array<model::StringId, 3> operators{};  // outer to inner; 0 beyond `depth`
  int depth = 0;
  model::StringId kernel = 0;
  double share = 0;                  // of the stage's time on the GPU
  std::int64_t allocated_bytes = 0;  // by the innermost operator
  bool freed_at_once = false;        // else by the mirrored stage of backward
};

// A block's forward, a block's backward, …
struct ModelStage {
  std::vector<KernelCall> calls;
  std::int64_t gpu_ns = 0;
  std::int64_t host_ns = 0;  // to launch it
  std::int64_t events() const;
};

struct GradientBucket {
  std::size_t after_stage = 0;  // of backward
  std::int64_t bytes = 0;
  std::int64_t transfer_ns = 0;
  std::vector<model::StringId> parameters;
};

struct StepShape {
  std::vector<std::string> strings;  // of id 1, 2, …
  std::vector<ModelStage> forward;   // embedding, blocks, head
  std::vector<ModelStage> backward;  // mirrored
  ModelStage optimizer;
  std::vector<GradientBucket> buckets;
  model::StringId launch = 0, synchronize = 0, copy_in = 0, copy_out = 0, fill = 0, all_reduce = 0;
  model::StringId world = 0, nccl = 0, float32 = 0, loss = 0;
  std::array<model::StringId, base::kPhaseCount> phases{};
  std::array<model::StringId, 6> lanes{};
  model::StringId ring = 0, simple = 0, low_latency = 0;  // NCCL's choices
  std::array<model::StringId, model::kGpuCounters.size()> counters{}, counter_units{};

  std::int64_t events_per_step() const;  // of one rank: all bulk kinds, and collectives
};

StepShape make_step_shape();

// Ids of the lanes, of every rank.
enum SyntheticLane { kPhaseLane, kMainLane, kAutogradLane, kComputeLane, kNcclLane, kCopyLane };
inline constexpr int kSyntheticCopiesIn = 2, kSyntheticCopiesOut = 1;

}  // namespace shardlens::trace::synthetic
