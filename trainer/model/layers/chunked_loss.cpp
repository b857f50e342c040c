#include "trainer/model/layers/chunked_loss.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "trainer/tensor/autocast_scope.h"
#include "trainer/tensor/kept_matrix.h"

namespace shardlens::trainer::model {

namespace {

using torch::Tensor;
using torch::autograd::variable_list;

struct Wanted {
  bool of_hidden = false, of_weight = false;
  bool any() const { return of_hidden || of_weight; }
};

// The loss, and the gradients up to `factor`, a scalar that they still have to be multiplied by.
struct LossAndGradients {
  Tensor loss, of_hidden, of_weight, factor;
};

class ChunkedLoss {
 public:
  ChunkedLoss(const Tensor& hidden, const Tensor& weight, const Tensor& targets, double divisor,
              const ChunkedLossOptions& options, Wanted wanted)
      : hidden_(hidden),
        type_(tensor::computed_type(hidden)),
        softmax_type_(at::promote_types(type_, torch::kFloat32)),
        weight_(weight.to(type_)),
        is_valid_(targets.ne(kIgnoredTarget)),
        targets_(targets.clamp_min(0)),
        divisor_(divisor),
        options_(options),
        wanted_(wanted) {}

  LossAndGradients compute() {
    const std::int64_t tokens = hidden_.size(0);
    prepare_factors();
    losses_ = torch::empty({tokens}, hidden_.options().dtype(softmax_type_));
    if (wanted_.of_hidden) result_.of_hidden = torch::empty_like(hidden_);
    for (std::int64_t begin = 0; begin < tokens; begin += options_.chunk_tokens) {
      add_chunk(begin, std::min(options_.chunk_tokens, tokens - begin));
    }
    result_.loss = losses_.sum() / divisor_;
    return std::move(result_);
  }

 private:
  // The division comes last, but in fp16, whose range is small, with the logits' gradients.
  void prepare_factors() {
    if (!wanted_.any()) return;
    const auto scalar = hidden_.options().dtype(softmax_type_).requires_grad(false);
    if (type_ != torch::kFloat16) {
      result_.factor = at::full({}, 1.0 / divisor_, scalar);
      return;
    }
    const Tensor scale = options_.loss_scale.defined() ? options_.loss_scale.to(softmax_type_)
                                                       : at::ones({}, scalar);
    chunk_factor_ = scale / divisor_;
    result_.factor = scale.reciprocal();
  }

  void add_chunk(std::int64_t begin, std::int64_t tokens) {
    const Tensor input = hidden_.narrow(0, begin, tokens).to(type_);
    const Tensor targets = targets_.narrow(0, begin, tokens).unsqueeze(1);
    const Tensor is_valid = is_valid_.narrow(0, begin, tokens).unsqueeze(1);
    Tensor logits = at::mm(input, weight_.t());
    Tensor log_probabilities = at::log_softmax(logits, 1, softmax_type_);
    const Tensor of_target = log_probabilities.gather(1, targets);
    losses_.narrow(0, begin, tokens).copy_((-of_target).where(is_valid, 0).squeeze(1));
    if (!wanted_.any()) return;
    const Tensor gradient =
        logits_gradient(std::move(logits), std::move(log_probabilities), of_target, targets);
    if (wanted_.of_hidden) {
      // Multiplied here and not the logits' gradient, which is far larger.
      result_.of_hidden.narrow(0, begin, tokens).copy_(at::mm(gradient, weight_)).mul_(is_valid);
    }
    if (wanted_.of_weight) add_weight_gradient(gradient, input * is_valid);
  }

  // softmax - one-hot, in the memory of one of the two.
  Tensor logits_gradient(Tensor logits, Tensor log_probabilities, const Tensor& of_target,
                         const Tensor& targets) const {
    // Exact where the target's probability is near 1.
    Tensor at_target = of_target.expm1();
    if (chunk_factor_.defined()) {
      log_probabilities.add_(chunk_factor_.log());
      at_target = at_target * chunk_factor_;
    }
    Tensor gradient = type_ == softmax_type_ ? std::move(log_probabilities.exp_())
                                             : at::exp_out(logits, log_probabilities);
    return gradient.scatter_(1, targets, at_target.to(type_));
  }

  void add_weight_gradient(const Tensor& gradient, const Tensor& input) {
    Tensor& sum = result_.of_weight;
    if (!sum.defined()) {
      sum = at::mm(gradient.t(), input).to(softmax_type_);
    } else if (type_ == softmax_type_) {
      sum.addmm_(gradient.t(), input);
    } else {
      sum.add_(at::mm(gradient.t(), input));
    }
  }

  const Tensor& hidden_;
  torch::ScalarType type_, softmax_type_;
  Tensor weight_;
  Tensor is_valid_, targets_;
  double divisor_;
  const ChunkedLossOptions& options_;
  Wanted wanted_;
  Tensor chunk_factor_;  // of the logits' gradients; undefined: 1
  Tensor losses_;
  LossAndGradients result_;
};

struct ChunkedLossFunction : torch::autograd::Function<ChunkedLossFunction> {
  static constexpr const char* kWeightType = "weight type";

  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& hidden,
                        const Tensor& weight, const Tensor& targets, double divisor,
                        const ChunkedLossOptions& options, Wanted wanted) {
    // Every type here is chosen; autocast would choose again.
    ChunkedLoss chunked(hidden, weight, targets, divisor, options, wanted);
    const tensor::AutocastScope no_autocast(hidden.device().type(), torch::kFloat32);
    LossAndGradients result = chunked.compute();
    context->saved_data[kWeightType] = static_cast<std::int64_t>(weight.scalar_type());
    if (wanted.any()) {
      context->save_for_backward({result.of_hidden, result.of_weight, result.factor});
    }
    return result.loss;
  }

  static variable_list backward(torch::autograd::AutogradContext* context,
                                variable_list gradients) {
    variable_list saved = context->get_saved_variables();
    const Tensor factor = gradients[0] * saved[2];
    // In place: a second backward through the same graph is an error, as autograd's own are.
    for (int i = 0; i < 2; ++i) {
      if (saved[i].defined()) saved[i].mul_(factor);
    }
    if (saved[1].defined()) {
      const auto type = context->saved_data[kWeightType].toInt();
      saved[1] = saved[1].to(static_cast<torch::ScalarType>(type));
    }
    return {saved[0], saved[1], Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor chunked_cross_entropy(const Tensor& hidden, const Tensor& weight, const Tensor& targets,
                             double divisor, const ChunkedLossOptions& options) {
  TORCH_CHECK(options.chunk_tokens > 0, "a chunk has at least one token");
  TORCH_CHECK(divisor > 0, "the loss is divided by a positive number");
  Wanted wanted;
  if (torch::GradMode::is_enabled()) {
    wanted = {hidden.requires_grad(), weight.requires_grad()};
  }
  return ChunkedLossFunction::apply(hidden, weight, targets, divisor, options, wanted);
}

}  // namespace shardlens::trainer::model
