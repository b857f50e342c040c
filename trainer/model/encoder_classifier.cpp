#include "trainer/model/encoder_classifier.h"

#include <utility>

#include "trainer/model/layers/attention.h"
#include "trainer/model/layers/batch_score.h"

namespace shardlens::trainer::model {

namespace {

constexpr bool kHasBias = true;

struct SelfAttention : Layer {
  SelfAttention(const ModelShape& shape, double dropout_probability,
                std::shared_ptr<const torch::Tensor> of_batch, ParameterPlace place)
      : heads(shape.heads), dropout(dropout_probability), mask(std::move(of_batch)) {
    query = add<Projection>("query", shape.width, shape.width, place, kHasBias);
    key = add<Projection>("key", shape.width, shape.width, place, kHasBias);
    value = add<Projection>("value", shape.width, shape.width, place, kHasBias);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto batch = x.size(0), time = x.size(1);
    auto by_head = [&](const std::shared_ptr<Projection>& projection) {
      return projection->forward(x).view({batch, time, heads, -1}).transpose(1, 2);
    };
    // Statement by statement, as PyTorch has it: in the reverse of this order gradients come.
    const auto queries = by_head(query);
    const auto keys = by_head(key);
    const auto mixed = full_attention(queries, keys, by_head(value),
                                      {is_training() ? dropout : 0.0, std::nullopt, *mask});
    return mixed.transpose(1, 2).reshape({batch, time, -1});
  }

  std::int64_t heads;
  double dropout;
  std::shared_ptr<const torch::Tensor> mask;
  std::shared_ptr<Projection> query, key, value;
};

// Not a Layer: it takes two tensors.
struct Output : torch::nn::Module {
  Output(std::int64_t in, const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : dropout(dropout_probability) {
    dense =
        register_module("dense", std::make_shared<Projection>(in, shape.width, place, kHasBias));
    norm = register_module("LayerNorm",
                           std::make_shared<LayerNorm>(shape.width, shape.norm_epsilon, place));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& residual) {
    return norm->forward(at::dropout(dense->forward(x), dropout, is_training()) + residual);
  }

  double dropout;
  std::shared_ptr<Projection> dense;
  std::shared_ptr<LayerNorm> norm;
};

struct Attention : Layer {
  Attention(const ModelShape& shape, double dropout,
            const std::shared_ptr<const torch::Tensor>& mask, ParameterPlace place) {
    self = add<SelfAttention>("self", shape, dropout, mask, place);
    output = add<Output>("output", shape.width, shape, dropout, place);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    return output->forward(self->forward(x), x);
  }

  std::shared_ptr<SelfAttention> self;
  std::shared_ptr<Output> output;
};

struct Intermediate : Layer {
  Intermediate(const ModelShape& shape, ParameterPlace place) : activation(shape.activation) {
    dense = add<Projection>("dense", shape.width, shape.mlp_width, place, kHasBias);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    return activate(activation, dense->forward(x));
  }

  Activation activation;
  std::shared_ptr<Projection> dense;
};

struct Block : Layer {
  Block(const ModelShape& shape, double dropout, const std::shared_ptr<const torch::Tensor>& mask,
        ParameterPlace place) {
    attention = add<Attention>("attention", shape, dropout, mask, place);
    intermediate = add<Intermediate>("intermediate", shape, place);
    output = add<Output>("output", shape.mlp_width, shape, dropout, place);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto attended = attention->forward(x);
    return output->forward(intermediate->forward(attended), attended);
  }

  std::shared_ptr<Attention> attention;
  std::shared_ptr<Intermediate> intermediate;
  std::shared_ptr<Output> output;
};

struct Embeddings : Layer {
  Embeddings(const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : dropout(dropout_probability) {
    if (shape.layout == ModelLayout::kRoberta) padding_token = shape.padding_token;
    const auto width = shape.width;
    words = add<Embedding>("word_embeddings", shape.vocabulary, width, place, shape.padding_token);
    positions = add<Embedding>("position_embeddings", shape.context, width, place,
                               padding_token.value_or(-1));
    types = add<Embedding>("token_type_embeddings", shape.token_types, width, place);
    norm = add<LayerNorm>("LayerNorm", shape.width, shape.norm_epsilon, place);
  }

  torch::Tensor compute(const torch::Tensor& tokens) override {
    // Statement by statement, as PyTorch has it: in the reverse of this order gradients come.
    const auto word = words->forward(tokens);
    const auto typed = word + types->forward(torch::zeros({1}, tokens.options()));
    const auto sum = typed + positions->forward(positions_of(tokens));
    return at::dropout(norm->forward(sum), dropout, is_training());
  }

  // RoBERTa counts from the one after its padding token, which keeps its own.
  torch::Tensor positions_of(const torch::Tensor& tokens) const {
    if (!padding_token) return torch::arange(tokens.size(1), tokens.options());
    const auto counts = tokens.ne(*padding_token).to(torch::kLong);
    return counts.cumsum(1) * counts + *padding_token;
  }

  double dropout;
  std::optional<std::int64_t> padding_token;  // none: positions do not depend on it
  std::shared_ptr<Embedding> words, positions, types;
  std::shared_ptr<LayerNorm> norm;
};

// What BERT looks at instead of the first token.
struct Pooler : Layer {
  Pooler(const ModelShape& shape, ParameterPlace place) {
    dense = add<Projection>("dense", shape.width, shape.width, place, kHasBias);
  }
  torch::Tensor compute(const torch::Tensor& x) override { return at::tanh(dense->forward(x)); }
  std::shared_ptr<Projection> dense;
};

struct Encoder : Layer {
  Encoder(const ModelShape& shape, double dropout, const std::shared_ptr<const torch::Tensor>& mask,
          ParameterPlace place) {
    embeddings = add<Embeddings>("embeddings", shape, dropout, place);
    const auto encoder = add<torch::nn::Module>("encoder");
    layers = add_blocks(*encoder, "layer", shape.layers, [&](std::int64_t) {
      return std::make_shared<Block>(shape, dropout, mask, place);
    });
    if (shape.layout == ModelLayout::kBert) {
      pooler = add<Pooler>("pooler", shape, place);
    }
  }

  // [batch, time] → [batch, width], of the whole sequence.
  torch::Tensor compute(const torch::Tensor& tokens) override {
    auto x = embeddings->forward(tokens);
    for (const auto& layer : layers) x = layer->forward(x);
    const auto first = x.select(1, 0);
    return pooler ? pooler->forward(first) : first;
  }

  std::shared_ptr<Embeddings> embeddings;
  std::vector<std::shared_ptr<Layer>> layers;
  std::shared_ptr<Pooler> pooler;  // null: RoBERTa
};

struct RobertaHead : Layer {
  RobertaHead(const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : dropout(dropout_probability) {
    dense = add<Projection>("dense", shape.width, shape.width, place, kHasBias);
    out_proj = add<Projection>("out_proj", shape.width, shape.labels, place, kHasBias);
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto inner = at::tanh(dense->forward(x));
    return out_proj->forward(at::dropout(inner, dropout, is_training()));
  }

  double dropout;
  std::shared_ptr<Projection> dense, out_proj;
};

}  // namespace

EncoderClassifier::EncoderClassifier(const ModelShape& shape, double dropout, ParameterPlace place)
    : dropout_(dropout), mask_(std::make_shared<torch::Tensor>()) {
  const bool is_bert = shape.layout == ModelLayout::kBert;
  const auto encoder = std::make_shared<Encoder>(shape, dropout, mask_, place);
  encoder_ = register_module(is_bert ? "bert" : "roberta", encoder);
  blocks_ = encoder->layers;
  if (is_bert) {
    head_ = register_module(
        "classifier", std::make_shared<Projection>(shape.width, shape.labels, place, kHasBias));
  } else {
    head_ = register_module("classifier", std::make_shared<RobertaHead>(shape, dropout, place));
  }
}

torch::Tensor EncoderClassifier::logits(const torch::Tensor& tokens,
                                        const torch::Tensor& attention_mask) {
  *mask_ = attention_mask.defined() ? attention_mask.to(torch::kBool).unsqueeze(1).unsqueeze(1)
                                    : torch::Tensor();
  return head_->forward(at::dropout(encoder_->forward(tokens), dropout_, is_training()));
}

torch::Tensor EncoderClassifier::loss(const TokenBatch& batch, double divisor,
                                      const std::optional<ChunkedLossOptions>& /*chunks*/) {
  const auto scores = logits(batch.inputs, batch.attention_mask).to(torch::kFloat32);
  return at::cross_entropy_loss(scores, batch.targets, /*weight=*/{}, at::Reduction::Sum,
                                kIgnoredTarget) /
         divisor;
}

torch::Tensor EncoderClassifier::score(const TokenBatch& batch,
                                       const std::optional<ChunkedLossOptions>& /*chunks*/) {
  return score_of_logits(logits(batch.inputs, batch.attention_mask), batch.targets);
}

}  // namespace shardlens::trainer::model
