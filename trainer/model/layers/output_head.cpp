#include "trainer/model/layers/output_head.h"

#include <utility>

#include "trainer/model/layers/batch_score.h"

namespace shardlens::trainer::model {

std::shared_ptr<OutputHead> OutputHead::create(const ModelShape& shape,
                                               const torch::Tensor& embedding,
                                               ParameterPlace place) {
  return shape.tied_head ? std::make_shared<OutputHead>(embedding)
                         : std::make_shared<OutputHead>(shape.width, shape.vocabulary, place);
}

torch::Tensor OutputHead::loss(const torch::Tensor& hidden, const torch::Tensor& targets,
                               double divisor, const std::optional<ChunkedLossOptions>& chunks) {
  const torch::Tensor flat_targets = targets.reshape({-1});
  if (!chunks) {
    const torch::Tensor logits = forward(hidden);
    // Widened first, as transformers does: autocast would keep the log-probabilities in 16 bits.
    const torch::Tensor sum =
        at::cross_entropy_loss(logits.view({-1, logits.size(-1)}).to(torch::kFloat32), flat_targets,
                               {}, at::Reduction::Sum, kIgnoredTarget);
    return sum / divisor;
  }
  by_chunks_ = [=, this, options = *chunks](const torch::Tensor& flat_hidden) {
    return chunked_cross_entropy(flat_hidden, weight, flat_targets, divisor, options);
  };
  return forward(hidden);
}

torch::Tensor OutputHead::score(const torch::Tensor& hidden, const torch::Tensor& targets,
                                const std::optional<ChunkedLossOptions>& chunks) {
  const torch::Tensor flat_targets = targets.reshape({-1});
  if (!chunks) {
    const torch::Tensor logits = forward(hidden);
    return score_of_logits(logits.view({-1, logits.size(-1)}), flat_targets);
  }
  by_chunks_ = [=, this, chunk = chunks->chunk_tokens](const torch::Tensor& flat_hidden) {
    return score_of_hidden(flat_hidden, weight, flat_targets, chunk);
  };
  return forward(hidden);
}

torch::Tensor OutputHead::compute(const torch::Tensor& hidden) {
  const auto by_chunks = std::exchange(by_chunks_, std::nullopt);
  return by_chunks ? (*by_chunks)(hidden.reshape({-1, hidden.size(-1)}))
                   : Projection::compute(hidden);
}

}  // namespace shardlens::trainer::model
