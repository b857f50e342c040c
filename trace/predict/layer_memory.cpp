#include "trace/predict/layer_memory.h"

#include <algorithm>
#include <utility>

#include "trace/model/lora.h"
#include "trace/model/loss_chunks.h"
#include "trace/predict/adapter_memory.h"
#include "trace/predict/element_bytes.h"
#include "trace/predict/encoder_block.h"
#include "trace/predict/gpt2_block.h"
#include "trace/predict/layer_sizes.h"
#include "trace/predict/llama_block.h"

namespace shardlens::trace {

namespace {

constexpr std::int64_t kLossBytes = 4;  // log-probabilities and the loss are fp32

LayerMemory head_saved(const LayerSizes& s, const PlannedJob& job) {
  LayerMemory head;
  head.input_bytes = s.residual;
  head.cast_weights = s.autocast ? 2 * job.shape.vocabulary * job.shape.width : 0;
  const std::int64_t logits = s.tokens * job.shape.vocabulary;
  head.saved = {{"input of the last norm", s.residual},
                {"last norm", s.norm_statistics + s.normalized},
                {"input of the head", s.product},
                {"weights of the head in 16 bits", head.cast_weights},
                {"log-probabilities", logits * kLossBytes}};
  // The logits, and their copy in fp32, live until the loss is there.
  head.forward_scratch = logits * s.product_bytes + (s.product_bytes == 2 ? logits * 4 : 0);
  head.unsaved_scratch = head.forward_scratch;
  return head;
}

std::vector<BackwardOperator> plain_backward(const LayerSizes& s, const PlannedJob& job,
                                             std::int64_t cast) {
  const std::int64_t logits = s.tokens * job.shape.vocabulary;
  const std::int64_t scores = logits * kLossBytes;
  std::vector<BackwardOperator> backward;
  backward.push_back({.made = scores});  // of the log-probabilities
  backward.push_back({.made = scores, .consumed = scores, .released = scores});
  if (s.product_bytes == 2) backward.push_back({.made = logits * 2, .consumed = scores});
  BackwardOperator product{
      .made = s.product, .consumed = logits * s.product_bytes, .released = s.product + cast};
  if (cast > 0) {
    product.made += cast;
    backward.push_back(product);
    product = {.consumed = cast};
  }
  backward.push_back(product);
  return backward;
}

// What trainer/model/chunked_loss holds beside what it saves: one chunk at its widest moment.
std::int64_t chunk_scratch(const LayerSizes& s, const PlannedJob& job, std::int64_t chunk) {
  const std::int64_t logits = chunk * job.shape.vocabulary;
  const std::int64_t matrix = job.shape.vocabulary * job.shape.width;
  const bool in_16_bits = s.product_bytes == 2;
  const std::int64_t input = chunk * job.shape.width * s.product_bytes;
  // The logits, their copy in fp32, log-probabilities; the first chunk has no sum of gradients yet.
  const std::int64_t softmax = logits * (s.product_bytes + (in_16_bits ? 4 : 0) + kLossBytes) -
                               (chunk >= s.tokens ? matrix * kLossBytes : 0);
  // The gradient of the logits, the input without ignored tokens, the gradient of the matrix.
  const std::int64_t product = logits * s.product_bytes + input + (in_16_bits ? 2 * matrix : 0);
  const std::int64_t cast_input = s.residual_bytes == s.product_bytes ? 0 : input;
  return std::max(softmax, product) + cast_input + (s.autocast ? 2 * matrix : 0);
}

LayerMemory chunked_head_saved(const LayerSizes& s, const PlannedJob& job, std::int64_t chunk) {
  LayerMemory head;
  head.input_bytes = s.residual;
  head.saved = {{"input of the last norm", s.residual},
                {"last norm", s.norm_statistics + s.normalized},
                {"gradient of its output", s.residual},
                {"gradient of the head", job.shape.vocabulary * job.shape.width * kLossBytes}};
  // The last norm's output lives until the loss is there.
  head.forward_scratch = s.residual + chunk_scratch(s, job, chunk);
  head.unsaved_scratch = head.forward_scratch;
  return head;
}

// Whether the layer that reads the encoder's output, BERT's pooler or the first of RoBERTa's head,
// is trained or has an adapter.
bool reads_for_gradients(const PlannedJob& job) {
  if (job.settings.lora_rank == 0 || job.shape.layout == ModelLayout::kRoberta) return true;
  const auto adapted = adapted_layers(job.shape, job.settings.lora_target_modules);
  return adapted && std::ranges::any_of(*adapted, [](const LinearShape& layer) {
           return layer.block == ParameterShape::kRoot;
         });
}

// Sees the first token alone, but keeps the whole tensor that it is a part of; the gradient of all
// others is zero. What the classifier makes of one token per sequence is not counted.
LayerMemory classifier_memory(const LayerSizes& s, const PlannedJob& job) {
  LayerMemory head;
  head.input_bytes = s.residual;
  // Autocast keeps a copy of the one token, a frozen layer nothing.
  const std::int64_t kept = s.autocast || !reads_for_gradients(job) ? 0 : s.residual;
  head.saved = {{"output of the last block", kept}};
  head.backward = {{.made = s.residual, .released = kept}};
  return head;
}

// Both gradients are there already: they only become somebody else's.
std::vector<BackwardOperator> chunked_backward(const LayerSizes& s, const PlannedJob& job) {
  const std::int64_t matrix = job.shape.vocabulary * job.shape.width;
  const bool is_cast = s.residual_bytes == 2;  // the weights are, and so is their gradient
  return {{.scratch = is_cast ? 2 * matrix : 0, .released = matrix * kLossBytes + s.residual},
          {.made = s.residual}};
}

LayerMemory memory_of(ModelLayout layout, const LayerSizes& sizes, const BlockWeights& weights) {
  if (is_encoder(layout)) return encoder_block_memory(sizes, weights);
  return layout == ModelLayout::kGpt2 ? gpt2_block_memory(sizes, weights)
                                      : llama_block_memory(sizes, weights);
}

// Every product expands its matrix, also in backward.
void set_expansion(BlockWeights& weights, const PlannedJob& job) {
  const KeptType kept = kept_types(job.settings).linear;
  const std::int64_t computed = element_bytes(job.settings).product;
  if (kept == KeptType::kBf16 && computed == 2) return;
  weights.expanded = computed;
  weights.while_expanding = computed;
  // 4 bits: values in fp32 beside either the codes as indices, half as many, or the result.
  if (kept == KeptType::kNf4) weights.while_expanding = 4 + 2;
}

std::int64_t largest_matrix(const PlannedJob& job) {
  std::int64_t largest = 0;
  for (const LinearShape& layer : linear_layers(job.shape)) {
    largest = std::max(largest, layer.in * layer.out);
  }
  return largest;
}

// Nothing is kept for gradients of the last norm and of the head, which adapters leave as they are.
HeadMemory frozen_head(HeadMemory head, const LayerSizes& s, const PlannedJob& job,
                       std::int64_t chunk) {
  LayerMemory& layer = head.layer;
  const std::int64_t matrix = job.shape.vocabulary * job.shape.width;
  const bool is_cast = s.autocast && kept_types(job.settings).other == KeptType::kFp32;
  const std::int64_t cast = is_cast ? 2 * matrix : 0;
  for (SavedTensors& each : layer.saved) {
    if (each.what == "input of the head" || each.what == "gradient of the head") each.bytes = 0;
    if (each.what == "weights of the head in 16 bits") each.bytes = cast;
    if (each.what == "last norm") each.bytes = s.norm_statistics;
  }
  layer.cast_weights = cast;
  const std::int64_t logits = s.tokens * job.shape.vocabulary;
  BackwardOperator product{
      .made = s.product, .consumed = logits * s.product_bytes, .released = cast};
  if (chunk > 0) product = {.released = s.residual};
  // Without a gradient of the matrix there is nothing to cast.
  layer.backward = chunk > 0 ? std::vector<BackwardOperator>{} : plain_backward(s, job, 0);
  if (chunk == 0) layer.backward.pop_back();
  layer.backward.push_back(product);
  if (chunk > 0) layer.backward.push_back({.made = s.residual});
  head.head_operator = layer.backward.size() - 1;
  layer.backward.push_back({.made = s.residual,
                            .scratch = s.norm_scratch,
                            .consumed = chunk > 0 ? s.residual : s.product,
                            .released = s.residual + s.norm_statistics});
  return head;
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
  const bool is_packed = is_frozen && kept_types(job.settings).linear != KeptType::kFp32;
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

HeadMemory head_memory(const PlannedJob& job) {
  const LayerSizes s = layer_sizes(job);
  if (is_encoder(job.shape.layout)) return {classifier_memory(s, job)};
  const std::int64_t chunk = loss_chunk_tokens(job.settings, job.shape, job.tokens());
  HeadMemory head{chunk > 0 ? chunked_head_saved(s, job, chunk) : head_saved(s, job)};
  std::vector<BackwardOperator>& backward = head.layer.backward;
  backward = chunk > 0 ? chunked_backward(s, job) : plain_backward(s, job, head.layer.cast_weights);
  head.head_operator = backward.size() - 1;
  head.gradient_is_added_to = chunk > 0;
  // From here on there is a gradient that flows between layers.
  backward.push_back({.made = s.residual,
                      .scratch = s.norm_scratch,
                      .consumed = chunk > 0 ? s.residual : s.product,
                      .released = s.residual + s.norm_statistics + s.normalized,
                      .parameters = job.shape.layout == ModelLayout::kGpt2 ? 2 : 1});
  if (job.settings.lora_rank > 0) return frozen_head(std::move(head), s, job, chunk);
  return head;
}

}  // namespace shardlens::trace
