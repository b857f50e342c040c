#include "trace/predict/layers/adapter_memory.h"

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
