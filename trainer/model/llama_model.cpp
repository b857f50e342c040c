#include "trainer/model/llama_model.h"

#include <string>
#include <utility>

namespace shardlens::trainer {

struct LlamaModel::Attention : Layer {
  Attention(const ModelShape& shape, double dropout_probability, std::shared_ptr<Rotary> positions,
            torch::Device device)
      : head_width(shape.head_width()), dropout(dropout_probability), rotary(std::move(positions)) {
    const auto width = shape.width, kv_width = shape.kv_heads * head_width;
    q_proj = register_module("q_proj", std::make_shared<Projection>(width, width, device));
    k_proj = register_module("k_proj", std::make_shared<Projection>(width, kv_width, device));
    v_proj = register_module("v_proj", std::make_shared<Projection>(width, kv_width, device));
    o_proj = register_module("o_proj", std::make_shared<Projection>(width, width, device));
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto batch = x.size(0), time = x.size(1);
    auto by_head = [&](const torch::Tensor& part) {
      return part.view({batch, time, -1, head_width}).transpose(1, 2);
    };
    const auto query = rotary->apply(by_head(q_proj->forward(x)));
    const auto key = rotary->apply(by_head(k_proj->forward(x)));
    const auto value = by_head(v_proj->forward(x));
    const auto mixed = causal_attention(query, key, value, is_training() ? dropout : 0.0);
    return o_proj->forward(mixed.transpose(1, 2).reshape({batch, time, -1}));
  }

  std::int64_t head_width;
  double dropout;
  std::shared_ptr<Rotary> rotary;  // one for all blocks
  std::shared_ptr<Projection> q_proj, k_proj, v_proj, o_proj;
};

struct LlamaModel::Mlp : Layer {
  Mlp(const ModelShape& shape, torch::Device device) {
    const auto width = shape.width, hidden = shape.mlp_width;
    gate_proj = register_module("gate_proj", std::make_shared<Projection>(width, hidden, device));
    up_proj = register_module("up_proj", std::make_shared<Projection>(width, hidden, device));
    down_proj = register_module("down_proj", std::make_shared<Projection>(hidden, width, device));
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    return down_proj->forward(at::silu(gate_proj->forward(x)) * up_proj->forward(x));
  }

  std::shared_ptr<Projection> gate_proj, up_proj, down_proj;
};

struct LlamaModel::Block : Layer {
  Block(const ModelShape& shape, double dropout, const std::shared_ptr<Rotary>& rotary,
        torch::Device device) {
    self_attn =
        register_module("self_attn", std::make_shared<Attention>(shape, dropout, rotary, device));
    mlp = register_module("mlp", std::make_shared<Mlp>(shape, device));
    auto norm = [&] { return std::make_shared<RmsNorm>(shape.width, shape.norm_epsilon, device); };
    input_layernorm = register_module("input_layernorm", norm());
    post_attention_layernorm = register_module("post_attention_layernorm", norm());
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto attended = x + self_attn->forward(input_layernorm->forward(x));
    return attended + mlp->forward(post_attention_layernorm->forward(attended));
  }

  std::shared_ptr<Attention> self_attn;
  std::shared_ptr<Mlp> mlp;
  std::shared_ptr<RmsNorm> input_layernorm, post_attention_layernorm;
};

struct LlamaModel::Decoder : Layer {
  Decoder(const ModelShape& shape, double dropout, const std::shared_ptr<Rotary>& rotary,
          torch::Device device) {
    embed_tokens = register_module(
        "embed_tokens", std::make_shared<Embedding>(shape.vocabulary, shape.width, device));
    auto list = std::make_shared<torch::nn::Module>();
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      layers.push_back(list->register_module(
          std::to_string(i), std::make_shared<Block>(shape, dropout, rotary, device)));
    }
    register_module("layers", list);
    register_module("rotary_emb", rotary);
    norm =
        register_module("norm", std::make_shared<RmsNorm>(shape.width, shape.norm_epsilon, device));
  }

  torch::Tensor compute(const torch::Tensor& tokens) override {
    auto x = embed_tokens->forward(tokens);
    for (const auto& layer : layers) x = layer->forward(x);
    return norm->forward(x);
  }

  std::shared_ptr<Embedding> embed_tokens;
  std::vector<std::shared_ptr<Block>> layers;
  std::shared_ptr<RmsNorm> norm;
};

LlamaModel::LlamaModel(const ModelShape& shape, double dropout, torch::Device device)
    : rotary_(std::make_shared<Rotary>(shape, device)) {
  decoder_ = register_module("model", std::make_shared<Decoder>(shape, dropout, rotary_, device));
  head_ = register_module(
      "lm_head", shape.tied_head
                     ? std::make_shared<OutputHead>(decoder_->embed_tokens->weight)
                     : std::make_shared<OutputHead>(shape.width, shape.vocabulary, device));
}

std::vector<std::shared_ptr<Layer>> LlamaModel::blocks() const {
  return {decoder_->layers.begin(), decoder_->layers.end()};
}

torch::Tensor LlamaModel::hidden(const torch::Tensor& tokens) { return decoder_->forward(tokens); }

}  // namespace shardlens::trainer
