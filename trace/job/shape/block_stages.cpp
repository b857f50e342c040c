#include "trace/job/shape/block_stages.h"

#include <array>

namespace shardlens::trace::job {

namespace {

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
