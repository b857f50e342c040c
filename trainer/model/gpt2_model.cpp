#include <cmath>
#include <optional>

#include "trainer/model/decoder_model.h"
#include "trainer/model/layers/attention.h"

namespace shardlens::trainer::model {

namespace {

struct Gpt2Attention : Layer {
  Gpt2Attention(const ModelShape& shape, std::int64_t layer, double dropout_probability,
                ParameterPlace place)
      : heads(shape.heads), dropout(dropout_probability) {
    if (!shape.scales_attention || shape.scales_attention_by_layer) {
      const auto width = static_cast<double>(shape.head_width());
      scale = (shape.scales_attention ? 1 / std::sqrt(width) : 1.0) /
              (shape.scales_attention_by_layer ? static_cast<double>(layer + 1) : 1.0);
    }
    c_attn = add<Conv1d>("c_attn", shape.width, 3 * shape.width, place);
    c_proj = add<Conv1d>("c_proj", shape.width, shape.width, place);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto batch = x.size(0), time = x.size(1), width = x.size(2);
    const auto parts = c_attn->forward(x).split(width, 2);
    auto by_head = [&](const torch::Tensor& part) {
      return part.view({batch, time, heads, width / heads}).transpose(1, 2);
    };
    const auto mixed = causal_attention(by_head(parts[0]), by_head(parts[1]), by_head(parts[2]),
                                        {is_training() ? dropout : 0.0, scale, {}});
    const auto joined = mixed.transpose(1, 2).reshape({batch, time, width});
    return at::dropout(c_proj->forward(joined), dropout, is_training());
  }

  std::int64_t heads;
  double dropout;
  std::optional<double> scale;
  std::shared_ptr<Conv1d> c_attn, c_proj;
};

struct Gpt2Mlp : Layer {
  Gpt2Mlp(const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : activation(shape.activation), dropout(dropout_probability) {
    c_fc = add<Conv1d>("c_fc", shape.width, shape.mlp_width, place);
    c_proj = add<Conv1d>("c_proj", shape.mlp_width, shape.width, place);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto hidden = activate(activation, c_fc->forward(x));
    return at::dropout(c_proj->forward(hidden), dropout, is_training());
  }

  Activation activation;
  double dropout;
  std::shared_ptr<Conv1d> c_fc, c_proj;
};

struct Gpt2Block : Layer {
  Gpt2Block(const ModelShape& shape, std::int64_t layer, double dropout, ParameterPlace place) {
    const double epsilon = shape.norm_epsilon;
    ln_1 = add<LayerNorm>("ln_1", shape.width, epsilon, place);
    attn = add<Gpt2Attention>("attn", shape, layer, dropout, place);
    ln_2 = add<LayerNorm>("ln_2", shape.width, epsilon, place);
    mlp = add<Gpt2Mlp>("mlp", shape, dropout, place);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto attended = x + attn->forward(ln_1->forward(x));
    return attended + mlp->forward(ln_2->forward(attended));
  }

  std::shared_ptr<LayerNorm> ln_1, ln_2;
  std::shared_ptr<Gpt2Attention> attn;
  std::shared_ptr<Gpt2Mlp> mlp;
};

struct Transformer : Layer {
  Transformer(const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : dropout(dropout_probability) {
    wte = add<Embedding>("wte", shape.vocabulary, shape.width, place);
    wpe = add<Embedding>("wpe", shape.context, shape.width, place);
    h = add_blocks(*this, "h", shape.layers, [&](std::int64_t i) {
      return std::make_shared<Gpt2Block>(shape, i, dropout, place);
    });
    ln_f = add<LayerNorm>("ln_f", shape.width, shape.norm_epsilon, place);
  }

  torch::Tensor compute(const torch::Tensor& tokens) override {
    const auto positions =
        torch::arange(tokens.size(1), torch::dtype(torch::kLong).device(tokens.device()));
    // Statement by statement, as PyTorch has it: in the reverse of this order gradients come.
    const auto words = wte->forward(tokens);
    auto x = at::dropout(words + wpe->forward(positions), dropout, is_training());
    for (const auto& block : h) x = block->forward(x);
    return ln_f->forward(x);
  }

  double dropout;
  std::shared_ptr<Embedding> wte, wpe;
  std::vector<std::shared_ptr<Layer>> h;
  std::shared_ptr<LayerNorm> ln_f;
};

}  // namespace

std::shared_ptr<DecoderModel> gpt2_model(const ModelShape& shape, double dropout,
                                         ParameterPlace place) {
  const auto body = std::make_shared<Transformer>(shape, dropout, place);
  return std::make_shared<DecoderModel>("transformer", body, body->h,
                                        OutputHead::create(shape, body->wte->weight, place));
}

}  // namespace shardlens::trainer::model
