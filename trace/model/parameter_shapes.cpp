#include "trace/model/parameter_shapes.h"

#include <functional>
#include <numeric>

namespace shardlens::trace {

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

void add_gpt2_block(ParameterList& list, const ModelShape& s) {
  const std::int64_t c = s.width, f = s.mlp_width;
  list.add("ln_1.weight", {c});
  list.add("ln_1.bias", {c});
  list.add("attn.c_attn.weight", {c, 3 * c});
  list.add("attn.c_attn.bias", {3 * c});
  list.add("attn.c_proj.weight", {c, c});
  list.add("attn.c_proj.bias", {c});
  list.add("ln_2.weight", {c});
  list.add("ln_2.bias", {c});
  list.add("mlp.c_fc.weight", {c, f});
  list.add("mlp.c_fc.bias", {f});
  list.add("mlp.c_proj.weight", {f, c});
  list.add("mlp.c_proj.bias", {c});
}

void add_llama_block(ParameterList& list, const ModelShape& s) {
  const std::int64_t c = s.width, f = s.mlp_width, kv = s.kv_heads * s.head_width();
  const auto projection = [&](const std::string& name, std::int64_t out) {
    list.add(name + ".weight", {out, c});
    if (s.qkv_bias) list.add(name + ".bias", {out});
  };
  projection("self_attn.q_proj", c);
  projection("self_attn.k_proj", kv);
  projection("self_attn.v_proj", kv);
  list.add("self_attn.o_proj.weight", {c, c});
  list.add("mlp.gate_proj.weight", {f, c});
  list.add("mlp.up_proj.weight", {f, c});
  list.add("mlp.down_proj.weight", {c, f});
  list.add("input_layernorm.weight", {c});
  list.add("post_attention_layernorm.weight", {c});
}

void add_blocks(ParameterList& list, const ModelShape& s, const std::string& prefix) {
  for (int i = 0; i < static_cast<int>(s.layers); ++i) {
    list.enter_block(i, prefix + std::to_string(i) + ".");
    s.layout == ModelLayout::kGpt2 ? add_gpt2_block(list, s) : add_llama_block(list, s);
  }
  list.leave_block();
}

}  // namespace

std::int64_t ParameterShape::numel() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies{});
}

std::vector<ParameterShape> parameter_shapes(const ModelShape& s) {
  ParameterList list;
  if (s.layout == ModelLayout::kGpt2) {
    list.add("transformer.wte.weight", {s.vocabulary, s.width});
    list.add("transformer.wpe.weight", {s.context, s.width});
    add_blocks(list, s, "transformer.h.");
    list.add("transformer.ln_f.weight", {s.width});
    list.add("transformer.ln_f.bias", {s.width});
    if (!s.tied_head) list.add("lm_head.weight", {s.vocabulary, s.width});
  } else {
    list.add("model.embed_tokens.weight", {s.vocabulary, s.width});
    add_blocks(list, s, "model.layers.");
    list.add("model.norm.weight", {s.width});
    if (!s.tied_head) list.add("lm_head.weight", {s.vocabulary, s.width});
  }
  return list.take();
}

}  // namespace shardlens::trace
