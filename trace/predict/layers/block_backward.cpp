#include "trace/predict/layers/block_backward.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "trace/job/shape/lora.h"
#include "trace/predict/sizes/layer_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

namespace {

// Layers of one name group multiply the same tensor.
std::string input_of(std::string_view layer) {
  const std::string_view name = layer.substr(layer.rfind('.') + 1);
  if (name == "q_proj" || name == "k_proj" || name == "v_proj") return "attention";
  if (name == "query" || name == "key" || name == "value") return "attention";
  if (name == "gate_proj" || name == "up_proj") return "MLP";
  return std::string(layer);
}

bool reads_block_input(std::string_view layer) {
  return input_of(layer) == "attention" || layer.ends_with("attn.c_attn");
}

// Fused attention keeps its result, which is this layer's input.
bool reads_attention(std::string_view layer) {
  return layer.ends_with("o_proj") || layer.ends_with("attn.c_proj") ||
         layer.ends_with("attention.output.dense");
}

// Behind "transformer.h.0.", "model.layers.0." or "bert.encoder.layer.0."
std::string name_in_first_block(const std::string& name) {
  return name.substr(name.find(".0.") + 3);
}

// Copies in 16 bits that the gradient of the first block's input alone would need.
std::int64_t casts_for_block_input(const PlannedJob& job) {
  std::int64_t values = 0;
  const auto add = [&](const std::vector<job::LinearShape>& layers, const auto& values_of) {
    for (const job::LinearShape& layer : layers) {
      if (layer.block == 0 && reads_block_input(layer.name)) values += values_of(layer);
    }
  };
  const auto adapted = job::adapted_layers(job.shape, job.settings.lora_target_modules);
  if (adapted) add(*adapted, [&](const auto& layer) { return job.settings.lora_rank * layer.in; });
  if (job::kept_types(job.settings).linear == job::KeptType::kFp32) {
    add(job::linear_layers(job.shape), [](const auto& layer) { return layer.in * layer.out; });
  }
  return 2 * values;
}

}  // namespace

void BlockBackward::add(BackwardOperator op, int first_parameter, int parameters) {
  op.layer_parameter = first_parameter;
  if (!weights_.is_frozen) {
    op.first_parameter = first_parameter;
    op.parameters = parameters;
  }
  operators_.push_back(op);
}

void BlockBackward::add_product(BackwardOperator op, const BlockProduct& product) {
  const AdaptedLayer* adapter = add_adapter(product);
  const std::int64_t cast = sizes_.autocast ? 2 * product.values : 0;
  // Of the matrix, which comes after that of the input.
  const std::int64_t gradient = if_trained(sizes_.product_bytes * product.values);
  // What is made next to the matrix is not there yet while the matrix is expanded.
  op.scratch =
      std::max({op.scratch, weights_.while_expanding * product.values - op.made,
                weights_.expanded * product.values + sizes_.widening * op.made - if_trained(cast),
                sizes_.widening * gradient});
  op.released += cast;
  if (cast > 0 && !weights_.is_frozen) {
    op.made += cast;
    op.layer_parameter = product.first_parameter;
    add(op);
    op = {.consumed = cast};
  }
  add(op, product.first_parameter, product.parameters);
  if (adapter != nullptr) add({.made = adapter->input, .consumed = 2 * adapter->input});
}

void BlockBackward::add_mlp(const BlockProduct& last, const BlockProduct& first) {
  const LayerSizes& s = sizes_;
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  add({.made = s.cast + dropped, .released = s.dropout_mask});
  add_product({.made = s.mlp, .consumed = s.cast + dropped, .released = if_trained(s.mlp)}, last);
  add({.made = s.mlp, .consumed = s.mlp, .released = s.mlp});
  add_product({.made = s.product, .consumed = s.mlp, .released = if_trained(s.product)}, first);
}

// Its gradients come before the layer's own; those of the input are summed up then.
const AdaptedLayer* BlockBackward::add_adapter(const BlockProduct& product) {
  const auto found = std::ranges::find(weights_.adapters, product.layer, &AdaptedLayer::layer);
  if (found == weights_.adapters.end()) return nullptr;
  const int factor_a = 2 * static_cast<int>(found - weights_.adapters.begin());
  add({.made = found->output, .layer_parameter = product.first_parameter});  // scaled
  add({.made = found->between,
       .scratch = sizes_.widening * found->between,
       .consumed = found->output,
       .released = found->between,
       .first_parameter = factor_a + 1,
       .parameters = 1});
  add({.made = found->input,
       .scratch = sizes_.widening * found->input,
       .consumed = found->between,
       .released = found->saved - found->between,
       .first_parameter = factor_a,
       .parameters = 1});
  return &*found;
}

std::int64_t attention_result(const LayerSizes& s, std::int64_t kept_input) {
  if (s.attention_matrix == 0) return s.attention + s.log_sum;
  return 3 * s.attention_matrix + kept_input;
}

std::vector<AdaptedLayer> adapter_memory(const PlannedJob& job) {
  const std::int64_t rank = job.settings.lora_rank;
  if (rank == 0) return {};
  const auto layers = job::adapted_layers(job.shape, job.settings.lora_target_modules);
  if (!layers) return {};
  const ElementBytes bytes = element_bytes(job.settings);
  // Attention that is not fused keeps other things than its result.
  const bool keeps_attention = job.settings.dropout <= 0 || job.on_gpu;
  const bool drops = job.settings.lora_dropout > 0;
  std::vector<AdaptedLayer> adapters;
  std::set<std::string> kept;
  for (const job::LinearShape& layer : *layers) {
    if (layer.block != 0) continue;
    AdaptedLayer& adapter = adapters.emplace_back();
    adapter.layer = name_in_first_block(layer.name);
    adapter.input = job.tokens() * layer.in * bytes.product;
    adapter.between = job.tokens() * rank * bytes.product;
    adapter.output = job.tokens() * layer.out * bytes.product;
    adapter.saved = adapter.between;
    if (bytes.autocast) adapter.saved += 2 * job::adapter_values(layer, rank);
    if (drops) adapter.saved += job.on_gpu ? job.tokens() * layer.in : adapter.input;  // the mask
    if (!drops && reads_attention(layer.name) && keeps_attention) continue;
    // Autocast casts the input for each product; dropout makes another for each.
    const bool is_shared = !bytes.autocast && !drops;
    if (is_shared && !kept.insert(input_of(layer.name)).second) continue;
    adapter.saved += adapter.input;
  }
  return adapters;
}

std::int64_t spared_by_first_block(const PlannedJob& job) {
  if (job.settings.lora_rank == 0) return 0;
  const LayerSizes sizes = layer_sizes(job);
  // An encoder's block begins with attention.
  const bool begins_with_norm = !job::is_encoder(job.shape.layout);
  const std::int64_t norm = begins_with_norm ? sizes.residual + sizes.norm_statistics : 0;
  return norm + (sizes.autocast ? casts_for_block_input(job) : 0);
}

}  // namespace shardlens::trace::predict
