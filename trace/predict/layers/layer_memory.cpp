#include "trace/predict/layers/layer_memory.h"

#include <algorithm>

#include "trace/job/shape/lora.h"
#include "trace/predict/layers/adapter_memory.h"
#include "trace/predict/layers/block_backward.h"
#include "trace/predict/sizes/layer_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

namespace {

LayerMemory memory_of(job::ModelLayout layout, const LayerSizes& sizes,
                      const BlockWeights& weights) {
  if (job::is_encoder(layout)) return encoder_block_memory(sizes, weights);
  return layout == job::ModelLayout::kGpt2 ? gpt2_block_memory(sizes, weights)
                                           : llama_block_memory(sizes, weights);
}

// Every product expands its matrix, also in backward.
void set_expansion(BlockWeights& weights, const PlannedJob& job) {
  const job::KeptType kept = job::kept_types(job.settings).linear;
  const std::int64_t computed = element_bytes(job.settings).product;
  if (kept == job::KeptType::kBf16 && job::computes_in_bf16(job.settings)) return;
  weights.expanded = computed;
  weights.while_expanding = computed;
  // 4 bits: values in fp32 beside either the codes as indices, half as many, or the result.
  if (kept == job::KeptType::kNf4) weights.while_expanding = 4 + 2;
}

std::int64_t largest_matrix(const PlannedJob& job) {
  std::int64_t largest = 0;
  for (const job::LinearShape& layer : job::linear_layers(job.shape)) {
    largest = std::max(largest, layer.in * layer.out);
  }
  return largest;
}

}  // namespace

std::int64_t LayerMemory::saved_bytes() const {
  std::int64_t sum = 0;
  for (const SavedTensors& each : saved) sum += each.bytes;
  return sum;
}

LayerMemory block_memory(const PlannedJob& job, bool is_frozen) {
  LayerSizes sizes = layer_sizes(job);
  BlockWeights weights;
  weights.is_frozen = is_frozen;
  if (is_frozen) weights.adapters = adapter_memory(job);
  const bool is_packed = is_frozen && job::kept_types(job.settings).linear != job::KeptType::kFp32;
  if (is_packed) {
    sizes.autocast = false;  // no casts of matrices are kept
    set_expansion(weights, job);
  }
  LayerMemory memory = memory_of(job.shape.layout, sizes, weights);
  if (weights.while_expanding > 0) {
    const std::int64_t expanded = weights.while_expanding * largest_matrix(job);
    memory.forward_scratch += expanded;
    memory.unsaved_scratch += expanded;
  }
  std::int64_t saved = 0;
  for (const AdaptedLayer& adapter : weights.adapters) saved += adapter.saved;
  if (saved > 0) memory.saved.push_back({"adapters", saved});
  return memory;
}

}  // namespace shardlens::trace::predict
