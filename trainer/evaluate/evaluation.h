// How well held-out text is predicted, shared out over the ranks. The training thread.
#pragma once

#include <torch/types.h>

#include <optional>

#include "profiler/recorder/recorder.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/token_dataset.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::evaluate {

// Of all ranks' targets together, each counted once whatever the number of ranks and batches.
struct Evaluation {
  double loss = 0;        // mean over targets, nats
  double perplexity = 0;  // of tokens; of classes NaN: exp(loss) is none
  double accuracy = 0;    // share of targets that the model finds most probable
  std::int64_t targets = 0;
  std::int64_t sequences = 0;
};

struct EvaluationOptions {
  std::int64_t batch_size = 8;
  std::int64_t most_batches = 0;                     // on each rank, of the first samples; 0: all
  torch::ScalarType compute_type = torch::kFloat32;  // by autocast
  torch::Device device = torch::kCPU;
  std::optional<model::ChunkedLossOptions> loss_chunks;
};

// Every rank calls it, and all do the same number of forwards. Leaves the model in training mode.
// Throws if a collective fails.
Evaluation evaluate(model::Model& model, strategy::Strategy& strategy,
                    const data::TokenDataset& dataset, comm::Communicator& communicator,
                    profiler::recorder::Recorder& recorder, const EvaluationOptions& options);

}  // namespace shardlens::trainer::evaluate
