#include "trace/predict/sizes/layer_sizes.h"

#include "trace/job/shape/lora.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

namespace {

constexpr std::int64_t kStatisticsBytes = 4;

void add_norms(LayerSizes& s, const PlannedJob& job) {
  const std::int64_t values = s.tokens * job.shape.width;
  if (job.shape.layout != job::ModelLayout::kLlama) {
    s.norm_statistics = 2 * s.tokens * kStatisticsBytes;  // mean and deviation
    return;
  }
  s.norm_statistics = s.tokens * kStatisticsBytes;
  if (job.on_gpu) return;
  // On a CPU RMSNorm is made of its parts: the input in fp32 and the normalized input are kept.
  s.normalized = values * s.residual_bytes + (s.residual_bytes == 4 ? 0 : values * 4);
  s.norm_scratch = 2 * values * 4;
}

void add_head_norms(LayerSizes& s, const PlannedJob& job) {
  if (!job.shape.qk_norm) return;
  const std::int64_t heads = job.shape.heads + job.shape.kv_heads;
  s.head_norm_statistics = s.tokens * heads * kStatisticsBytes;
  if (job.on_gpu) return;
  const std::int64_t of_fp32 = s.product_bytes == 4 ? 0 : 4 / s.product_bytes;
  s.query_normalized = s.attention * (1 + of_fp32);
  s.key_normalized = s.key * (1 + of_fp32);
}

// A mask keeps the fused kernels from sharing keys among heads.
void add_window(LayerSizes& s, const PlannedJob& job) {
  const job::ModelShape& shape = job.shape;
  const bool has_mask = shape.window > 0 && job.sequence() > shape.window;
  if (!has_mask || shape.heads == shape.kv_heads) return;
  s.repeated = 2 * s.attention;
  s.attended = s.attention + s.repeated;
}

void add_dropout(LayerSizes& s, const PlannedJob& job) {
  if (job.settings.dropout <= 0) return;
  s.dropout_mask = s.tokens * job.shape.width * (job.on_gpu ? 1 : s.product_bytes);
  // On a CPU the fused kernel knows no dropout.
  if (job.on_gpu) return;
  // What takes its place computes in fp32, with as many keys and values as queries.
  s.attention_matrix = s.tokens * job.shape.heads * job.sequence() * 4;
  s.attended = 3 * s.tokens * job.shape.attention_width() * 4;
}

}  // namespace

LayerSizes layer_sizes(const PlannedJob& job) {
  const job::ModelShape& shape = job.shape;
  const ElementBytes bytes = element_bytes(job.settings);
  LayerSizes s;
  s.tokens = job.tokens();
  s.residual_bytes = bytes.residual;
  s.product_bytes = bytes.product;
  const bool widens = job.widens_bf16 && !job.on_gpu && job::computes_in_bf16(job.settings);
  s.widening = widens ? 2 : 0;
  s.autocast = bytes.autocast;
  s.qkv_bias = shape.qkv_bias;
  s.output_bias = shape.output_bias;
  s.mlp_bias = shape.mlp_bias;
  s.qk_norm = shape.qk_norm;
  s.residual = s.tokens * shape.width * bytes.residual;
  s.product = s.tokens * shape.width * bytes.product;
  s.key = s.tokens * shape.kv_heads * shape.head_width() * bytes.product;
  s.attention = s.tokens * shape.attention_width() * bytes.product;
  s.attended = s.attention + 2 * s.key;
  s.mlp = s.tokens * shape.mlp_width * bytes.product;
  s.log_sum = s.tokens * shape.heads * kStatisticsBytes;
  s.cast = bytes.residual == bytes.product ? 0 : s.product;
  if (bytes.autocast && shape.layout != job::ModelLayout::kGpt2) s.casts_for_attention = 3;
  if (bytes.autocast && shape.layout == job::ModelLayout::kLlama) s.casts_for_mlp = 2;
  if (bytes.product == 2 && shape.layout == job::ModelLayout::kLlama) {
    // Sine and cosine, for queries and for keys.
    s.rotary = 4 * job.sequence() * shape.head_width() * bytes.product;
  }
  s.square_matrix = shape.width * shape.attention_width();
  s.key_matrix = shape.width * shape.kv_heads * shape.head_width();
  s.mlp_matrix = shape.width * shape.mlp_width;
  add_norms(s, job);
  add_head_norms(s, job);
  add_window(s, job);
  add_dropout(s, job);
  return s;
}

}  // namespace shardlens::trace::predict
