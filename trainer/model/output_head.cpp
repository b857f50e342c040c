#include "trainer/model/output_head.h"

#include <utility>

namespace shardlens::trainer {

torch::Tensor OutputHead::loss(const torch::Tensor& hidden, const torch::Tensor& targets,
                               const std::optional<ChunkedLossOptions>& chunks) {
  const torch::Tensor flat_targets = targets.reshape({-1});
  if (!chunks) {
    const torch::Tensor logits = forward(hidden);
    return at::cross_entropy_loss(logits.view({-1, logits.size(-1)}).to(torch::kFloat32),
                                  flat_targets);
  }
  chunked_ = ChunkedTargets{flat_targets, *chunks};
  return forward(hidden);
}

torch::Tensor OutputHead::compute(const torch::Tensor& hidden) {
  const auto chunked = std::exchange(chunked_, std::nullopt);
  if (!chunked) return Projection::compute(hidden);
  return chunked_cross_entropy(hidden.reshape({-1, hidden.size(-1)}), weight, chunked->targets,
                               chunked->options);
}

}  // namespace shardlens::trainer
