#include "trace/predict/layer_memory.h"

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

}  // namespace

std::int64_t LayerMemory::saved_bytes() const {
  std::int64_t sum = 0;
  for (const SavedTensors& each : saved) sum += each.bytes;
  return sum;
}

LayerMemory block_memory(const PlannedJob& job, bool is_frozen) {
  const LayerSizes sizes = layer_sizes(job);
  return job.shape.layout == ModelLayout::kGpt2 ? gpt2_block_memory(sizes, is_frozen)
                                                : llama_block_memory(sizes, is_frozen);
}

HeadMemory head_memory(const PlannedJob& job) {
  const LayerSizes s = layer_sizes(job);
  HeadMemory head{head_saved(s, job)};
  const std::int64_t logits = s.tokens * job.shape.vocabulary;
  const std::int64_t scores = logits * kLossBytes;
  std::vector<BackwardOperator>& backward = head.layer.backward;
  backward.push_back({.made = scores});  // of the log-probabilities
  backward.push_back({.made = scores, .consumed = scores, .released = scores});
  if (s.product_bytes == 2) backward.push_back({.made = logits * 2, .consumed = scores});
  const std::int64_t cast = head.layer.cast_weights;
  BackwardOperator product{
      .made = s.product, .consumed = logits * s.product_bytes, .released = s.product + cast};
  if (cast > 0) {
    product.made += cast;
    backward.push_back(product);
    product = {.consumed = cast};
  }
  head.head_operator = backward.size();
  backward.push_back(product);
  // From here on there is a gradient that flows between layers.
  backward.push_back({.made = s.residual,
                      .scratch = s.norm_scratch,
                      .consumed = s.product,
                      .released = s.residual + s.norm_statistics + s.normalized,
                      .parameters = job.shape.layout == ModelLayout::kGpt2 ? 2 : 1});
  return head;
}

}  // namespace shardlens::trace
