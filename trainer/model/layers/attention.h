// Attention over [batch, heads, time, head width]; keys and values may have fewer heads. The
// training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

namespace shardlens::trainer::model {

struct AttentionOptions {
  double dropout = 0;
  std::optional<double> scale;  // none: 1/√(head width)
  // [time, time], added to scores, or [batch, 1, 1, time], bool, true where a token may look;
  // undefined: as the function says.
  torch::Tensor mask;
};

// No token looks ahead; a mask says so itself. Without one the fused kernels can be used.
torch::Tensor causal_attention(const torch::Tensor& query, const torch::Tensor& key,
                               const torch::Tensor& value, const AttentionOptions& options);
// Every token looks at all others that `mask` allows.
torch::Tensor full_attention(const torch::Tensor& query, const torch::Tensor& key,
                             const torch::Tensor& value, const AttentionOptions& options);

// Lets each token look at the `window` last ones, itself included. One for all blocks: attention
// would make of a bool one a mask of scores for each of them.
class SlidingWindow {
 public:
  explicit SlidingWindow(std::int64_t window) : window_(window) {}
  // [time, time], 0 or -inf, of the type of `query`; undefined while the sequence is no longer than
  // the window: causal is enough then.
  torch::Tensor mask(const torch::Tensor& query);

 private:
  std::int64_t window_;
  torch::Tensor mask_;  // of the last length
};

}  // namespace shardlens::trainer::model
