#include "trainer/model/layers/attention.h"

#include <limits>

namespace shardlens::trainer::model {

namespace {

torch::Tensor attend(const torch::Tensor& query, const torch::Tensor& key,
                     const torch::Tensor& value, const AttentionOptions& options, bool is_causal) {
  std::optional<at::Tensor> mask;
  if (options.mask.defined()) mask = options.mask;
  const std::int64_t repeats = query.size(1) / key.size(1);
  // No fused kernel of CUDA takes a mask and grouped heads together.
  if (repeats > 1 && mask) {
    return at::scaled_dot_product_attention(query, key.repeat_interleave(repeats, 1),
                                            value.repeat_interleave(repeats, 1), mask,
                                            options.dropout, is_causal, options.scale);
  }
  return at::scaled_dot_product_attention(query, key, value, mask, options.dropout, is_causal,
                                          options.scale, /*enable_gqa=*/repeats > 1);
}

}  // namespace

torch::Tensor causal_attention(const torch::Tensor& query, const torch::Tensor& key,
                               const torch::Tensor& value, const AttentionOptions& options) {
  return attend(query, key, value, options, /*is_causal=*/!options.mask.defined());
}

torch::Tensor full_attention(const torch::Tensor& query, const torch::Tensor& key,
                             const torch::Tensor& value, const AttentionOptions& options) {
  return attend(query, key, value, options, /*is_causal=*/false);
}

torch::Tensor SlidingWindow::mask(const torch::Tensor& query) {
  const std::int64_t time = query.size(2);
  if (time <= window_) return {};
  const bool fits =
      mask_.defined() && mask_.size(0) == time && mask_.scalar_type() == query.scalar_type();
  if (!fits) {
    const torch::NoGradGuard no_grad;
    const auto all = torch::ones({time, time}, query.options().dtype(torch::kBool));
    const auto hidden = all.tril().triu(1 - window_).logical_not();
    mask_ = torch::zeros({time, time}, query.options())
                .masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  }
  return mask_;
}

}  // namespace shardlens::trainer::model
