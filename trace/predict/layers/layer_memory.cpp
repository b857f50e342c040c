#include "trace/predict/layers/layer_memory.h"

#include <algorithm>

#include "trace/base/median.h"
#include "trace/job/shape/lora.h"
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

constexpr std::int64_t kLossBytes = 4;  // log-probabilities and the loss are fp32

// Of a decoder; adapters leave its last norm and its output matrix as they are.
struct DecoderHead {
  const PlannedJob& job;
  LayerSizes s;
  bool is_frozen;
  std::int64_t matrix;     // values
  std::int64_t kept_norm;  // by the last norm, besides its input
  // Bytes of the matrix as autocast casts it, or as a frozen one that is kept otherwise is expanded
  // for each product.
  std::int64_t cast, expanded;

  explicit DecoderHead(const PlannedJob& of)
      : job(of),
        s(layer_sizes(of)),
        is_frozen(of.settings.lora_rank > 0),
        matrix(of.shape.vocabulary * of.shape.width),
        kept_norm(s.norm_statistics + (is_frozen ? 0 : s.normalized)) {
    const bool is_in_bf16 = is_frozen && job::kept_types(of.settings).other == job::KeptType::kBf16;
    cast = s.autocast && !is_in_bf16 ? 2 * matrix : 0;
    expanded = is_in_bf16 && !job::computes_in_bf16(of.settings) ? s.product_bytes * matrix : 0;
  }

  HeadMemory plain() const;
  HeadMemory by_chunks(std::int64_t chunk) const;

 private:
  std::int64_t chunk_scratch(std::int64_t chunk) const;
  // `consumed`: the gradient of its output. From here on there is one that flows between layers.
  void add_norm(LayerMemory& layer, std::int64_t consumed) const;
};

void DecoderHead::add_norm(LayerMemory& layer, std::int64_t consumed) const {
  const int parameters = job.shape.layout == job::ModelLayout::kGpt2 ? 2 : 1;
  layer.backward.push_back({.made = s.residual,
                            .scratch = s.norm_scratch,
                            .consumed = consumed,
                            .released = s.residual + kept_norm,
                            .parameters = is_frozen ? 0 : parameters});
}

HeadMemory DecoderHead::plain() const {
  const std::int64_t logits = s.tokens * job.shape.vocabulary, scores = logits * kLossBytes;
  const std::int64_t kept_input = is_frozen ? 0 : s.product;
  HeadMemory head;
  LayerMemory& layer = head.layer;
  layer.input_bytes = s.residual;
  layer.cast_weights = cast;
  layer.saved = {{"input of the last norm", s.residual},
                 {"last norm", kept_norm},
                 {"input of the head", kept_input},
                 {"weights of the head in 16 bits", layer.cast_weights},
                 {"log-probabilities", scores}};
  // The logits, and their copy in fp32, live until the loss is there; an expanded matrix is gone
  // before there are log-probabilities.
  layer.forward_scratch =
      logits * s.product_bytes + std::max(s.product_bytes == 2 ? logits * 4 : 0, expanded - scores);
  layer.unsaved_scratch = layer.forward_scratch;
  std::vector<BackwardOperator>& backward = layer.backward;
  backward.push_back({.made = scores});  // of the log-probabilities
  backward.push_back({.made = scores, .consumed = scores, .released = scores});
  if (s.product_bytes == 2) backward.push_back({.made = logits * 2, .consumed = scores});
  // Of the matrix, which comes after that of the input.
  const std::int64_t gradient = is_frozen ? 0 : s.product_bytes * matrix;
  const std::int64_t cast_gradient = is_frozen ? 0 : cast;
  BackwardOperator product{
      .made = s.product,
      .scratch = std::max(expanded + s.widening * s.product - cast_gradient, s.widening * gradient),
      .consumed = logits * s.product_bytes,
      .released = kept_input + layer.cast_weights};
  // Without a gradient of the matrix there is nothing to cast.
  if (cast > 0 && !is_frozen) {
    product.made += layer.cast_weights;
    backward.push_back(product);
    product = {.consumed = layer.cast_weights};
  }
  backward.push_back(product);
  head.head_operator = backward.size() - 1;
  add_norm(layer, s.product);
  return head;
}

// What trainer/model/layers/chunked_loss holds beside what it saves, the gradient of the matrix
// included: at the widest moment of the first chunk, which has none yet, or of the second.
std::int64_t DecoderHead::chunk_scratch(std::int64_t chunk) const {
  const bool in_16_bits = s.product_bytes == 2;
  const std::int64_t saved = is_frozen ? 0 : matrix * kLossBytes;
  // On a GPU one kernel makes log-probabilities of logits in fp16, but not of those in bf16.
  const bool is_copied = in_16_bits && (!job.on_gpu || job::computes_in_bf16(job.settings));
  // The logits, their copy in fp32, log-probabilities.
  const auto softmax = [&](std::int64_t tokens) {
    return tokens * job.shape.vocabulary * (s.product_bytes + (is_copied ? 4 : 0) + kLossBytes);
  };
  const auto input = [&](std::int64_t tokens) {
    return tokens * job.shape.width * s.product_bytes;
  };
  // The gradient of the logits, the input without ignored tokens, the gradient of the matrix.
  const std::int64_t gradient = in_16_bits && !is_frozen ? 2 * matrix : 0;
  const auto product = [&](std::int64_t tokens) {
    return tokens * job.shape.vocabulary * s.product_bytes + input(tokens) +
           std::max((1 + s.widening) * gradient, s.widening * input(tokens));
  };
  // On a CPU a sum of different types makes a copy of what is added, once the product is there.
  const std::int64_t added =
      gradient > 0 && !job.on_gpu ? kLossBytes * matrix - s.widening * gradient : 0;
  const auto cast_input = [&](std::int64_t tokens) {
    return s.residual_bytes == s.product_bytes ? 0 : input(tokens);
  };
  const std::int64_t first = std::min(chunk, s.tokens), second = std::min(chunk, s.tokens - first);
  return cast + expanded +
         std::max({std::int64_t{0}, softmax(first) - saved + cast_input(first),
                   product(first) + cast_input(first),
                   std::max(softmax(second), product(second) + (second > 0 ? added : 0)) +
                       cast_input(second)});
}

HeadMemory DecoderHead::by_chunks(std::int64_t chunk) const {
  const std::int64_t gradient = is_frozen ? 0 : matrix * kLossBytes;
  HeadMemory head;
  head.gradient_is_added_to = true;
  LayerMemory& layer = head.layer;
  layer.input_bytes = s.residual;
  layer.saved = {{"input of the last norm", s.residual},
                 {"last norm", kept_norm},
                 {"gradient of its output", s.residual},
                 {"gradient of the head", gradient}};
  // The last norm's output lives until the loss is there.
  layer.forward_scratch = s.residual + chunk_scratch(chunk);
  layer.unsaved_scratch = layer.forward_scratch;
  // Both gradients are there already: they only become somebody else's. Where the weights are in 16
  // bits, so is their gradient.
  const bool is_cast = s.residual_bytes == 2 && !is_frozen;
  layer.backward = {{.scratch = is_cast ? 2 * matrix : 0, .released = gradient + s.residual},
                    {.made = s.residual}};
  head.head_operator = layer.backward.size() - 1;
  add_norm(layer, s.residual);
  return head;
}

// Whether the layer that reads an encoder's output, BERT's pooler or the first of RoBERTa's head,
// is trained or has an adapter.
bool reads_for_gradients(const PlannedJob& job) {
  if (job.settings.lora_rank == 0 || job.shape.layout == job::ModelLayout::kRoberta) return true;
  const auto adapted = job::adapted_layers(job.shape, job.settings.lora_target_modules);
  return adapted && std::ranges::any_of(*adapted, [](const job::LinearShape& layer) {
           return layer.block == job::ParameterShape::kRoot;
         });
}

// Sees the first token alone, but keeps the whole tensor that it is a part of; the gradient of all
// others is zero. What the classifier makes of one token per sequence is not counted.
HeadMemory classifier_memory(const PlannedJob& job) {
  const LayerSizes s = layer_sizes(job);
  // Autocast keeps a copy of the one token, a frozen layer nothing.
  const std::int64_t kept = s.autocast || !reads_for_gradients(job) ? 0 : s.residual;
  HeadMemory head;
  head.layer.input_bytes = s.residual;
  head.layer.saved = {{"output of the last block", kept}};
  head.layer.backward = {{.made = s.residual, .released = kept}};
  return head;
}

}  // namespace

std::int64_t LayerMemory::saved_bytes() const { return base::sum_of(saved, &SavedTensors::bytes); }

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
  const std::int64_t saved = base::sum_of(weights.adapters, &AdaptedLayer::saved);
  if (saved > 0) memory.saved.push_back({"adapters", saved});
  return memory;
}

HeadMemory head_memory(const PlannedJob& job) {
  if (job::is_encoder(job.shape.layout)) return classifier_memory(job);
  const std::int64_t chunk = job.loss_chunk();
  const DecoderHead head(job);
  return chunk > 0 ? head.by_chunks(chunk) : head.plain();
}

}  // namespace shardlens::trace::predict
