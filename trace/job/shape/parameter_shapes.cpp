#include "trace/job/shape/parameter_shapes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>

namespace shardlens::trace::job {

namespace {

using Sizes = std::vector<std::int64_t>;

class ParameterList {
 public:
  void enter_block(int block, std::string prefix) {
    block_ = block;
    prefix_ = std::move(prefix);
  }
  void leave_block() { enter_block(ParameterShape::kRoot, ""); }
  void add(const std::string& name, Sizes sizes) {
    parameters_.push_back({prefix_ + name, std::move(sizes), block_});
  }
  std::vector<ParameterShape> take() { return std::move(parameters_); }

 private:
  int block_ = ParameterShape::kRoot;
  std::string prefix_;
  std::vector<ParameterShape> parameters_;
};

void add_linear(ParameterList& list, const std::string& name, std::int64_t in, std::int64_t out,
                bool has_bias = true) {
  list.add(name + ".weight", {out, in});
  if (has_bias) list.add(name + ".bias", {out});
}

void add_norm(ParameterList& list, const std::string& name, std::int64_t width) {
  list.add(name + ".weight", {width});
  list.add(name + ".bias", {width});
}

void add_gpt2_block(ParameterList& list, const ModelShape& s) {
  const std::int64_t c = s.width, f = s.mlp_width;
  add_norm(list, "ln_1", c);
  list.add("attn.c_attn.weight", {c, 3 * c});
  list.add("attn.c_attn.bias", {3 * c});
  list.add("attn.c_proj.weight", {c, c});
  list.add("attn.c_proj.bias", {c});
  add_norm(list, "ln_2", c);
  list.add("mlp.c_fc.weight", {c, f});
  list.add("mlp.c_fc.bias", {f});
  list.add("mlp.c_proj.weight", {f, c});
  list.add("mlp.c_proj.bias", {c});
}

void add_llama_block(ParameterList& list, const ModelShape& s) {
  const std::int64_t c = s.width, f = s.mlp_width;
  add_linear(list, "self_attn.q_proj", c, s.attention_width(), s.qkv_bias);
  add_linear(list, "self_attn.k_proj", c, s.kv_width(), s.qkv_bias);
  add_linear(list, "self_attn.v_proj", c, s.kv_width(), s.qkv_bias);
  add_linear(list, "self_attn.o_proj", s.attention_width(), c, s.output_bias);
  if (s.qk_norm) {
    list.add("self_attn.q_norm.weight", {s.head_width()});
    list.add("self_attn.k_norm.weight", {s.head_width()});
  }
  add_linear(list, "mlp.gate_proj", c, f, s.mlp_bias);
  add_linear(list, "mlp.up_proj", c, f, s.mlp_bias);
  add_linear(list, "mlp.down_proj", f, c, s.mlp_bias);
  list.add("input_layernorm.weight", {c});
  list.add("post_attention_layernorm.weight", {c});
}

void add_encoder_block(ParameterList& list, const ModelShape& s) {
  for (const char* name : {"query", "key", "value"}) {
    add_linear(list, "attention.self." + std::string(name), s.width, s.width);
  }
  add_linear(list, "attention.output.dense", s.width, s.width);
  add_norm(list, "attention.output.LayerNorm", s.width);
  add_linear(list, "intermediate.dense", s.width, s.mlp_width);
  add_linear(list, "output.dense", s.mlp_width, s.width);
  add_norm(list, "output.LayerNorm", s.width);
}

using AddBlock = void (*)(ParameterList&, const ModelShape&);

void add_blocks(ParameterList& list, const ModelShape& s, const std::string& prefix,
                AddBlock add_block) {
  for (int i = 0; i < static_cast<int>(s.layers); ++i) {
    list.enter_block(i, prefix + std::to_string(i) + ".");
    add_block(list, s);
  }
  list.leave_block();
}

void add_gpt2(ParameterList& list, const ModelShape& s) {
  list.add("transformer.wte.weight", {s.vocabulary, s.width});
  list.add("transformer.wpe.weight", {s.context, s.width});
  add_blocks(list, s, "transformer.h.", add_gpt2_block);
  add_norm(list, "transformer.ln_f", s.width);
  if (!s.tied_head) list.add("lm_head.weight", {s.vocabulary, s.width});
}

void add_llama(ParameterList& list, const ModelShape& s) {
  list.add("model.embed_tokens.weight", {s.vocabulary, s.width});
  add_blocks(list, s, "model.layers.", add_llama_block);
  list.add("model.norm.weight", {s.width});
  if (!s.tied_head) list.add("lm_head.weight", {s.vocabulary, s.width});
}

void add_encoder(ParameterList& list, const ModelShape& s) {
  const bool is_bert = s.layout == ModelLayout::kBert;
  const std::string prefix = is_bert ? "bert." : "roberta.";
  list.add(prefix + "embeddings.word_embeddings.weight", {s.vocabulary, s.width});
  list.add(prefix + "embeddings.position_embeddings.weight", {s.context, s.width});
  list.add(prefix + "embeddings.token_type_embeddings.weight", {s.token_types, s.width});
  add_norm(list, prefix + "embeddings.LayerNorm", s.width);
  add_blocks(list, s, prefix + "encoder.layer.", add_encoder_block);
  add_linear(list, is_bert ? "bert.pooler.dense" : "classifier.dense", s.width, s.width);
  add_linear(list, is_bert ? "classifier" : "classifier.out_proj", s.width, s.labels);
}

constexpr std::array<std::string_view, 3> kInputEmbeddings{"wte", "embed_tokens",
                                                           "word_embeddings"};
constexpr std::array<std::string_view, 3> kOtherTables{"wpe", "position_embeddings",
                                                       "token_type_embeddings"};

// Where a layer stands in its block: what comes later needs what came before, of layers with a
// branch only what is in the same one.
struct Stage {
  std::string_view layer;
  int number = 0;
  int branch = 0;
};
constexpr int kBehindAttention = 3;
// Of names that end alike the longest comes first.
constexpr auto kStages = std::to_array<Stage>({
    // GPT-2
    {".ln_1", 0},
    {".attn.c_attn", 1},
    {".attn.c_proj", kBehindAttention},
    {".ln_2", 4},
    {".mlp.c_fc", 5},
    {".mlp.c_proj", 6},
    // Llama
    {".input_layernorm", 0},
    {".self_attn.q_proj", 1, 1},
    {".self_attn.k_proj", 1, 2},
    {".self_attn.v_proj", 1, 3},
    {".self_attn.q_norm", 2, 1},
    {".self_attn.k_norm", 2, 2},
    {".self_attn.o_proj", kBehindAttention},
    {".post_attention_layernorm", 4},
    {".mlp.gate_proj", 5},
    {".mlp.up_proj", 5},
    {".mlp.down_proj", 6},
    // BERT and RoBERTa
    {".attention.self.query", 1},
    {".attention.self.key", 1},
    {".attention.self.value", 1},
    {".attention.output.dense", kBehindAttention},
    {".attention.output.LayerNorm", 4},
    {".intermediate.dense", 5},
    {".output.dense", 6},
    {".output.LayerNorm", 7},
});

Stage stage_of(std::string_view layer) {
  for (const Stage& each : kStages) {
    if (layer.ends_with(each.layer)) return each;
  }
  return {layer};
}

}  // namespace

std::int64_t ParameterShape::numel() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies{});
}

std::vector<ParameterShape> parameter_shapes(const ModelShape& s) {
  ParameterList list;
  switch (s.layout) {
    case ModelLayout::kGpt2:
      add_gpt2(list, s);
      break;
    case ModelLayout::kLlama:
      add_llama(list, s);
      break;
    case ModelLayout::kBert:
    case ModelLayout::kRoberta:
      add_encoder(list, s);
      break;
  }
  return list.take();
}

bool is_lookup_table(const ModelShape& shape, const ParameterShape& parameter) {
  const std::string_view layer = layer_of(parameter.name);
  const std::string_view name = layer.substr(layer.rfind('.') + 1);
  const auto is_in = [&](const auto& names) {
    return std::ranges::find(names, name) != names.end();
  };
  return is_in(kOtherTables) || (!shape.tied_head && is_in(kInputEmbeddings));
}

std::int64_t lookup_values(const ModelShape& shape) {
  ModelShape no_block = shape;
  no_block.layers = 0;
  std::int64_t values = 0;
  for (const ParameterShape& each : parameter_shapes(no_block)) {
    if (is_lookup_table(shape, each)) values += each.numel();
  }
  return values;
}

std::string_view layer_of(std::string_view parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

bool feeds(std::string_view before, std::string_view after) {
  const Stage a = stage_of(before), b = stage_of(after);
  return a.number < b.number && (a.branch == 0 || b.branch == 0 || a.branch == b.branch);
}

bool is_behind_attention(std::string_view layer) {
  return stage_of(layer).number == kBehindAttention;
}

}  // namespace shardlens::trace::job
