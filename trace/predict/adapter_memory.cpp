#include "trace/predict/adapter_memory.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "trace/model/lora.h"
#include "trace/predict/element_bytes.h"
#include "trace/predict/layer_sizes.h"

namespace shardlens::trace {

namespace {

// Layers of one name group multiply the same tensor.
std::string input_of(std::string_view layer) {
  const std::string_view name = layer.substr(layer.rfind('.') + 1);
  if (name == "q_proj" || name == "k_proj" || name == "v_proj") return "attention";
  if (name == "query" || name == "key" || name == "value") return "attention";
  if (name == "gate_proj" || name == "up_proj") return "MLP";
  return std::string(layer);
}

// Fused attention keeps its result, which is this layer's input.
bool reads_attention(std::string_view layer) {
  return layer.ends_with("o_proj") || layer.ends_with("attn.c_proj") ||
         layer.ends_with("attention.output.dense");
}

bool is_of_mlp(std::string_view layer) {
  return layer.find("mlp.") != std::string_view::npos ||
         layer.find("intermediate.") != std::string_view::npos ||
         (layer.ends_with("output.dense") && !layer.ends_with("attention.output.dense"));
}

}  // namespace

AdapterMemory adapter_memory(const PlannedJob& job) {
  AdapterMemory memory;
  if (job.settings.lora_rank == 0) return memory;
  const auto layers = adapted_layers(job.shape, job.settings.lora_target_modules);
  if (!layers) return memory;
  const ElementBytes bytes = element_bytes(job.settings);
  // Under autocast the result that attention keeps is not the tensor that this layer gets.
  const bool keeps_attention = !bytes.autocast && (job.settings.dropout <= 0 || job.on_gpu);
  const bool drops = job.settings.lora_dropout > 0;
  std::set<std::string> kept;
  for (const LinearShape& layer : *layers) {
    if (layer.block != 0) continue;
    std::int64_t& sum = is_of_mlp(layer.name) ? memory.mlp : memory.attention;
    sum += job.tokens() * job.settings.lora_rank * bytes.product;
    if (bytes.autocast) sum += 2 * adapter_values(layer, job.settings.lora_rank);
    const std::int64_t input = job.tokens() * layer.in;
    if (drops) sum += input * (job.on_gpu ? 1 : bytes.product);  // the mask
    if (!drops && reads_attention(layer.name) && keeps_attention) continue;
    // Autocast casts the input for each product; dropout makes another for each.
    const bool is_shared = !bytes.autocast && !drops;
    if (is_shared && !kept.insert(input_of(layer.name)).second) continue;
    sum += input * bytes.product;
  }
  // An encoder's block begins with attention.
  if (is_encoder(job.shape.layout)) return memory;
  const LayerSizes sizes = layer_sizes(job);
  memory.spared = sizes.residual + sizes.norm_statistics;
  return memory;
}

std::int64_t expanded_matrix_bytes(const PlannedJob& job) {
  const KeptType kept = kept_types(job.settings).linear;
  const std::int64_t computed = element_bytes(job.settings).product;
  if (kept == KeptType::kFp32 || (kept == KeptType::kBf16 && computed == 2)) return 0;
  std::int64_t largest = 0;
  for (const LinearShape& layer : linear_layers(job.shape)) {
    largest = std::max(largest, layer.in * layer.out);
  }
  // 4 bits: values in fp32 beside either the codes as indices, half as many, or the result.
  return largest * (kept == KeptType::kNf4 ? 4 + 2 : computed);
}

}  // namespace shardlens::trace
