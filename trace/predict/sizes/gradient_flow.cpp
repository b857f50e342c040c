#include "trace/predict/sizes/gradient_flow.h"

#include <array>
#include <string_view>

namespace shardlens::trace::predict {

namespace {

// Where a layer stands in its block as forward goes through it: what comes later needs what came
// before, of layers with a branch only what is in the same one.
struct Stage {
  std::string_view layer;
  int number = 0;
  int branch = 0;
};
// Of names that end alike the longest comes first.
constexpr auto kStages = std::to_array<Stage>({
    // GPT-2
    {".ln_1", 0},
    {".attn.c_attn", 1},
    {".attn.c_proj", 3},
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
    {".self_attn.o_proj", 3},
    {".post_attention_layernorm", 4},
    {".mlp.gate_proj", 5},
    {".mlp.up_proj", 5},
    {".mlp.down_proj", 6},
    // BERT and RoBERTa
    {".attention.self.query", 1},
    {".attention.self.key", 1},
    {".attention.self.value", 1},
    {".attention.output.dense", 3},
    {".attention.output.LayerNorm", 4},
    {".intermediate.dense", 5},
    {".output.dense", 6},
    {".output.LayerNorm", 7},
});

constexpr std::string_view kNormOfTables = ".embeddings.LayerNorm";

std::string_view layer_of(std::string_view parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

Stage stage_of(std::string_view layer) {
  for (const Stage& each : kStages) {
    if (layer.ends_with(each.layer)) return each;
  }
  return {layer};
}

bool feeds(const Stage& before, const Stage& after) {
  const bool is_in_branch =
      before.branch == 0 || after.branch == 0 || before.branch == after.branch;
  return before.number < after.number && is_in_branch;
}

}  // namespace

GradientFlow::GradientFlow(const ModelSizes& sizes)
    : sizes_(sizes), trains_tables_(trains(sizes.before_blocks())) {
  while (first_block_ < sizes.layers && !trains(sizes.block_parameters(first_block_))) {
    ++first_block_;
  }
}

bool GradientFlow::trains(ParameterRange parameters) const {
  for (int i = parameters.first; i < parameters.end; ++i) {
    if (sizes_.trained(i) > 0) return true;
  }
  return false;
}

bool GradientFlow::is_fed_in_block(int parameter, std::int64_t block) const {
  const Stage stage = stage_of(layer_of(sizes_.sized(parameter).name));
  const ParameterRange all = sizes_.block_parameters(block);
  for (int i = all.first; i < all.end; ++i) {
    if (sizes_.trained(i) == 0) continue;
    if (feeds(stage_of(layer_of(sizes_.sized(i).name)), stage)) return true;
  }
  return false;
}

bool GradientFlow::goes_on_from(int parameter) const {
  const std::string_view layer = layer_of(sizes_.sized(parameter).name);
  // Tables look up what has no gradient, and modules around blocks get tokens.
  if (sizes_.before_blocks().contains(parameter)) {
    return trains_tables_ && layer.ends_with(kNormOfTables);
  }
  if (trains_tables_) return true;
  const std::int64_t block = sizes_.block_of(parameter);
  if (block >= 0) {
    return block == first_block_ ? is_fed_in_block(parameter, block) : block > first_block_;
  }
  if (first_block_ < sizes_.layers) return true;
  // Behind the blocks layers are registered as forward goes through them.
  const int behind_blocks = sizes_.block_parameters(sizes_.layers).first;
  int first = parameter;
  while (first > behind_blocks && layer_of(sizes_.sized(first - 1).name) == layer) --first;
  return trains({behind_blocks, first});
}

bool GradientFlow::comes_to(ParameterRange parameters) const {
  return goes_on_from(parameters.first) || trains(parameters);
}

}  // namespace shardlens::trace::predict
