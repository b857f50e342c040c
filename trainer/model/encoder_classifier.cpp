#include "trainer/model/encoder_classifier.h"

#include <string>
#include <utility>

#include "trainer/model/layers/attention.h"
#include "trainer/model/layers/batch_score.h"

namespace shardlens::trainer::model {

namespace {

std::shared_ptr<Projection> linear(std::int64_t in, std::int64_t out, ParameterPlace place) {
  return std::make_shared<Projection>(in, out, place, /*has_bias=*/true);
}

}  // namespace

// Which tokens of the batch under way are padding. Layers take one tensor, so all blocks look here;
// backward, which may compute them again, ends before the next batch begins.
struct EncoderClassifier::Padding {
  torch::Tensor mask;  // [batch, 1, 1, time], bool, or undefined
};

struct EncoderClassifier::SelfAttention : Layer {
  SelfAttention(const ModelShape& shape, double dropout_probability,
                std::shared_ptr<const Padding> of_batch, ParameterPlace place)
      : heads(shape.heads), dropout(dropout_probability), padding(std::move(of_batch)) {
    query = register_module("query", linear(shape.width, shape.width, place));
    key = register_module("key", linear(shape.width, shape.width, place));
    value = register_module("value", linear(shape.width, shape.width, place));
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
                                      {is_training() ? dropout : 0.0, std::nullopt, padding->mask});
    return mixed.transpose(1, 2).reshape({batch, time, -1});
  }

  std::int64_t heads;
  double dropout;
  std::shared_ptr<const Padding> padding;
  std::shared_ptr<Projection> query, key, value;
};

// Not a Layer: it takes two tensors.
struct EncoderClassifier::Output : torch::nn::Module {
  Output(std::int64_t in, const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : dropout(dropout_probability) {
    dense = register_module("dense", linear(in, shape.width, place));
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

struct EncoderClassifier::Attention : Layer {
  Attention(const ModelShape& shape, double dropout, const std::shared_ptr<const Padding>& padding,
            ParameterPlace place) {
    self = register_module("self", std::make_shared<SelfAttention>(shape, dropout, padding, place));
    output =
        register_module("output", std::make_shared<Output>(shape.width, shape, dropout, place));
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    return output->forward(self->forward(x), x);
  }

  std::shared_ptr<SelfAttention> self;
  std::shared_ptr<Output> output;
};

struct EncoderClassifier::Intermediate : Layer {
  Intermediate(const ModelShape& shape, ParameterPlace place) : activation(shape.activation) {
    dense = register_module("dense", linear(shape.width, shape.mlp_width, place));
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    return activate(activation, dense->forward(x));
  }

  Activation activation;
  std::shared_ptr<Projection> dense;
};

struct EncoderClassifier::Block : Layer {
  Block(const ModelShape& shape, double dropout, const std::shared_ptr<const Padding>& padding,
        ParameterPlace place) {
    attention =
        register_module("attention", std::make_shared<Attention>(shape, dropout, padding, place));
    intermediate = register_module("intermediate", std::make_shared<Intermediate>(shape, place));
    output =
        register_module("output", std::make_shared<Output>(shape.mlp_width, shape, dropout, place));
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto attended = attention->forward(x);
    return output->forward(intermediate->forward(attended), attended);
  }

  std::shared_ptr<Attention> attention;
  std::shared_ptr<Intermediate> intermediate;
  std::shared_ptr<Output> output;
};

struct EncoderClassifier::Embeddings : Layer {
  Embeddings(const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : dropout(dropout_probability) {
    if (shape.layout == ModelLayout::kRoberta) padding_token = shape.padding_token;
    auto add = [&](const char* name, std::int64_t rows, std::int64_t padding = -1) {
      return register_module(name, std::make_shared<Embedding>(rows, shape.width, place, padding));
    };
    words = add("word_embeddings", shape.vocabulary, shape.padding_token);
    positions = add("position_embeddings", shape.context, padding_token.value_or(-1));
    types = add("token_type_embeddings", shape.token_types);
    norm = register_module("LayerNorm",
                           std::make_shared<LayerNorm>(shape.width, shape.norm_epsilon, place));
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
struct EncoderClassifier::Pooler : Layer {
  Pooler(const ModelShape& shape, ParameterPlace place) {
    dense = register_module("dense", linear(shape.width, shape.width, place));
  }
  torch::Tensor compute(const torch::Tensor& x) override { return at::tanh(dense->forward(x)); }
  std::shared_ptr<Projection> dense;
};

struct EncoderClassifier::Encoder : Layer {
  Encoder(const ModelShape& shape, double dropout, const std::shared_ptr<const Padding>& padding,
          ParameterPlace place) {
    embeddings = register_module("embeddings", std::make_shared<Embeddings>(shape, dropout, place));
    auto list = std::make_shared<torch::nn::Module>();
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      layers.push_back(list->register_module(
          std::to_string(i), std::make_shared<Block>(shape, dropout, padding, place)));
    }
    auto encoder = std::make_shared<torch::nn::Module>();
    encoder->register_module("layer", list);
    register_module("encoder", encoder);
    if (shape.layout == ModelLayout::kBert) {
      pooler = register_module("pooler", std::make_shared<Pooler>(shape, place));
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
  std::vector<std::shared_ptr<Block>> layers;
  std::shared_ptr<Pooler> pooler;  // null: RoBERTa
};

struct EncoderClassifier::RobertaHead : Layer {
  RobertaHead(const ModelShape& shape, double dropout_probability, ParameterPlace place)
      : dropout(dropout_probability) {
    dense = register_module("dense", linear(shape.width, shape.width, place));
    out_proj = register_module("out_proj", linear(shape.width, shape.labels, place));
  }

  torch::Tensor compute(const torch::Tensor& x) override {
    const auto inner = at::tanh(dense->forward(x));
    return out_proj->forward(at::dropout(inner, dropout, is_training()));
  }

  double dropout;
  std::shared_ptr<Projection> dense, out_proj;
};

EncoderClassifier::EncoderClassifier(const ModelShape& shape, double dropout, ParameterPlace place)
    : dropout_(dropout), padding_(std::make_shared<Padding>()) {
  const bool is_bert = shape.layout == ModelLayout::kBert;
  encoder_ = register_module(is_bert ? "bert" : "roberta",
                             std::make_shared<Encoder>(shape, dropout, padding_, place));
  if (is_bert) {
    head_ = register_module("classifier", linear(shape.width, shape.labels, place));
  } else {
    head_ = register_module("classifier", std::make_shared<RobertaHead>(shape, dropout, place));
  }
}

torch::Tensor EncoderClassifier::logits(const torch::Tensor& tokens,
                                        const torch::Tensor& attention_mask) {
  padding_->mask = attention_mask.defined()
                       ? attention_mask.to(torch::kBool).unsqueeze(1).unsqueeze(1)
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

std::vector<std::shared_ptr<Layer>> EncoderClassifier::blocks() const {
  return {encoder_->layers.begin(), encoder_->layers.end()};
}

}  // namespace shardlens::trainer::model
