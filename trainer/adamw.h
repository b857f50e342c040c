// AdamW over all parameters at once, and clipping of their gradients. The training thread.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace shardlens::trainer {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

class AdamW {
 public:
  // Allocates the whole state. Matrices decay; biases and norms (one dimension) do not.
  AdamW(const std::vector<torch::Tensor>& parameters, const AdamWOptions& options);

  // One update; parameters without a gradient are left as they are.
  void step(double learning_rate);

 private:
  struct Group {
    std::vector<torch::Tensor> parameters, first_moments, second_moments, steps;
    double weight_decay = 0;
  };
  void step(Group& group, double learning_rate);

  AdamWOptions options_;
  Group decayed_, plain_;
};

// The total 2-norm of all gradients, a scalar tensor on their device. Scales them down to `limit`
// as torch.nn.utils.clip_grad_norm_ does; 0 only measures.
torch::Tensor clip_gradients(const std::vector<torch::Tensor>& parameters, double limit);

}  // namespace shardlens::trainer
