#include "trainer/model/decoder_model.h"
#include "trainer/model/layers/attention.h"
#include "trainer/model/layers/rotary.h"

namespace shardlens::trainer::model {

namespace {

// What blocks share to know where tokens are.
struct LlamaPositions {
  std::shared_ptr<Rotary> rotary;
  std::shared_ptr<SlidingWindow> window;
};

struct LlamaAttention : Layer {
  LlamaAttention(const ModelShape& shape, double dropout_probability,
                 const LlamaPositions& positions, ParameterPlace place)
      : head_width(shape.head_width()),
        dropout(dropout_probability),
        rotary(positions.rotary),
        window(positions.window) {
    const auto width = shape.width, wide = shape.attention_width(), kv_width = shape.kv_width();
    q_proj = add<Projection>("q_proj", width, wide, place, shape.qkv_bias);
    k_proj = add<Projection>("k_proj", width, kv_width, place, shape.qkv_bias);
    v_proj = add<Projection>("v_proj", width, kv_width, place, shape.qkv_bias);
    o_proj = add<Projection>("o_proj", wide, width, place, shape.output_bias);
    if (!shape.qk_norm) return;
    q_norm = add<RmsNorm>("q_norm", head_width, shape.norm_epsilon, place);
    k_norm = add<RmsNorm>("k_norm", head_width, shape.norm_epsilon, place);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto batch = x.size(0), time = x.size(1);
    auto by_head = [&](const torch::Tensor& part, const std::shared_ptr<RmsNorm>& norm = nullptr) {
      const auto heads = part.view({batch, time, -1, head_width});
      return (norm ? norm->forward(heads) : heads).transpose(1, 2);
    };
    const auto query = rotary->apply(by_head(q_proj->forward(x), q_norm));
    const auto key = rotary->apply(by_head(k_proj->forward(x), k_norm));
    const auto value = by_head(v_proj->forward(x));
    AttentionOptions options{is_training() ? dropout : 0.0, std::nullopt, {}};
    if (window) options.mask = window->mask(query);
    const auto mixed = causal_attention(query, key, value, options);
    return o_proj->forward(mixed.transpose(1, 2).reshape({batch, time, -1}));
  }

  std::int64_t head_width;
  double dropout;
  std::shared_ptr<Rotary> rotary;
  std::shared_ptr<SlidingWindow> window;  // null: every token sees all before it
  std::shared_ptr<Projection> q_proj, k_proj, v_proj, o_proj;
  std::shared_ptr<RmsNorm> q_norm, k_norm;  // null: there are none
};

struct LlamaMlp : Layer {
  LlamaMlp(const ModelShape& shape, ParameterPlace place) {
    const auto width = shape.width, hidden = shape.mlp_width;
    gate_proj = add<Projection>("gate_proj", width, hidden, place, shape.mlp_bias);
    up_proj = add<Projection>("up_proj", width, hidden, place, shape.mlp_bias);
    down_proj = add<Projection>("down_proj", hidden, width, place, shape.mlp_bias);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    // Statement by statement, as PyTorch has it: in the reverse of this order gradients come.
    const auto gate = at::silu(gate_proj->forward(x));
    return down_proj->forward(gate * up_proj->forward(x));
  }

  std::shared_ptr<Projection> gate_proj, up_proj, down_proj;
};

struct LlamaBlock : Layer {
  LlamaBlock(const ModelShape& shape, double dropout, const LlamaPositions& positions,
             ParameterPlace place) {
    self_attn = add<LlamaAttention>("self_attn", shape, dropout, positions, place);
    mlp = add<LlamaMlp>("mlp", shape, place);
    const double epsilon = shape.norm_epsilon;
    input_layernorm = add<RmsNorm>("input_layernorm", shape.width, epsilon, place);
    post_attention_layernorm =
        add<RmsNorm>("post_attention_layernorm", shape.width, epsilon, place);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto attended = x + self_attn->forward(input_layernorm->forward(x));
    return attended + mlp->forward(post_attention_layernorm->forward(attended));
  }

  std::shared_ptr<LlamaAttention> self_attn;
  std::shared_ptr<LlamaMlp> mlp;
  std::shared_ptr<RmsNorm> input_layernorm, post_attention_layernorm;
};

struct Decoder : Layer {
  Decoder(const ModelShape& shape, double dropout, ParameterPlace place) {
    const auto rotary = std::make_shared<Rotary>(shape, place.device);
    embed_tokens =
        add<Embedding>("embed_tokens", shape.vocabulary, shape.width, place, shape.padding_token);
    const auto window = shape.window > 0 ? std::make_shared<SlidingWindow>(shape.window) : nullptr;
    layers = add_blocks(*this, "layers", shape.layers, [&](std::int64_t i) {
      const LlamaPositions positions{rotary, i < shape.full_layers ? nullptr : window};
      return std::make_shared<LlamaBlock>(shape, dropout, positions, place);
    });
    register_module("rotary_emb", rotary);
    norm = add<RmsNorm>("norm", shape.width, shape.norm_epsilon, place);
  }

  torch::Tensor compute(const torch::Tensor& tokens) override {
    auto x = embed_tokens->forward(tokens);
    for (const auto& layer : layers) x = layer->forward(x);
    return norm->forward(x);
  }

  std::shared_ptr<Embedding> embed_tokens;
  std::vector<std::shared_ptr<Layer>> layers;
  std::shared_ptr<RmsNorm> norm;
};

}  // namespace

std::shared_ptr<DecoderModel> llama_model(const ModelShape& shape, double dropout,
                                          ParameterPlace place) {
  const auto body = std::make_shared<Decoder>(shape, dropout, place);
  return std::make_shared<DecoderModel>(
      "model", body, body->layers, OutputHead::create(shape, body->embed_tokens->weight, place));
}

}  // namespace shardlens::trainer::model
