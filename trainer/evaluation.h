// The loss on held-out text, shared out over the ranks. The training thread.
#pragma once

#include <torch/torch.h>

#include <optional>

#include "profiler/recorder.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/block_dataset.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer {

struct Evaluation {
  double loss = 0;  // mean over tokens, nats
  double perplexity = 0;
  std::int64_t sequences = 0;
};

struct EvaluationOptions {
  std::int64_t batch_size = 8;
  torch::ScalarType compute_type = torch::kFloat32;  // by autocast
  torch::Device device = torch::kCPU;
  std::optional<ChunkedLossOptions> loss_chunks;
};

// The first evaluation blocks, at most this many batches on each rank: enough to compare runs, and
// short beside training.
inline constexpr std::int64_t kMaxEvaluationBatches = 20;

// Every rank calls it. Leaves the model in training mode. Throws if a collective fails.
Evaluation evaluate(Model& model, Strategy& strategy, const BlockDataset& dataset,
                    Communicator& communicator, profiler::Recorder& recorder,
                    const EvaluationOptions& options);

}  // namespace shardlens::trainer
