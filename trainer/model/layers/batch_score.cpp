#include "trainer/model/layers/batch_score.h"

#include <algorithm>

#include "trainer/model/layers/token_batch.h"

namespace shardlens::trainer::model {

torch::Tensor score_of_logits(const torch::Tensor& logits, const torch::Tensor& targets) {
  const torch::Tensor wide = logits.to(at::promote_types(logits.scalar_type(), torch::kFloat32));
  const torch::Tensor losses =
      at::cross_entropy_loss(wide, targets, {}, at::Reduction::None, kIgnoredTarget);
  // No class is the ignored one.
  const torch::Tensor is_right = wide.argmax(1).eq(targets);
  return at::stack({losses.sum(torch::kFloat64), is_right.sum().to(torch::kFloat64)});
}

torch::Tensor score_of_hidden(const torch::Tensor& hidden, const torch::Tensor& weight,
                              const torch::Tensor& targets, std::int64_t chunk_tokens) {
  // A frozen matrix may be kept in fewer bits.
  const torch::Tensor matrix = weight.to(hidden.scalar_type());
  torch::Tensor sum = torch::zeros({2}, hidden.options().dtype(torch::kFloat64));
  for (std::int64_t begin = 0; begin < hidden.size(0); begin += chunk_tokens) {
    const std::int64_t count = std::min(chunk_tokens, hidden.size(0) - begin);
    const torch::Tensor logits = at::linear(hidden.narrow(0, begin, count), matrix);
    sum.add_(score_of_logits(logits, targets.narrow(0, begin, count)));
  }
  return sum;
}

}  // namespace shardlens::trainer::model
