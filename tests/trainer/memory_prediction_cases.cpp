#include "tests/trainer/memory_prediction_cases.h"

#include <stdexcept>

namespace shardlens::trainer {

namespace {

void as_qwen2(ModelShape& shape) { shape.qkv_bias = true; }
void with_all_biases(ModelShape& shape) {
  shape.qkv_bias = shape.output_bias = shape.mlp_bias = true;
}
void as_qwen3(ModelShape& shape) {
  shape.head_size = 24;  // wider than the model together
  shape.qk_norm = true;
}
void as_mistral(ModelShape& shape) { shape.window = 48; }
// So few tokens that memory is highest in a block.
void with_small_vocabulary(ModelShape& shape) { shape.vocabulary = 64; }
// So many that memory is highest in the head.
void with_large_vocabulary(ModelShape& shape) {
  shape.layers = 1;
  shape.vocabulary = 8192;
}
void as_encoder(ModelShape& shape) {
  shape.kv_heads = shape.heads;
  shape.tied_head = false;
  shape.token_types = 2;
  shape.padding_token = 0;
  shape.context = 132;  // RoBERTa has no use for the first
  shape.activation = Activation::kGelu;
  shape.labels = 3;
}

MemoryCase recomputed(const char* name, ModelLayout layout, void (*change)(ModelShape&),
                      const char* adapters, const char* precision = "fp32",
                      const char* base = "auto") {
  return {.name = name,
          .layout = layout,
          .tied = layout == ModelLayout::kGpt2,
          .precision = precision,
          .recompute = 1,
          .change = change,
          .adapters = adapters,
          .base = base};
}

MemoryCase wide(const char* name, const char* precision, std::int64_t loss_chunk,
                const char* base) {
  return {.name = name,
          .layout = ModelLayout::kGpt2,
          .precision = precision,
          .loss_chunk = loss_chunk,
          .change = with_large_vocabulary,
          .adapters = "auto",
          .base = base};
}

ModelShape shape_of(const MemoryCase& tried) {
  ModelShape shape;
  shape.name = "probe";
  shape.layout = tried.layout;
  shape.layers = 4;
  shape.width = 96;
  shape.heads = 6;
  shape.kv_heads = tried.layout == ModelLayout::kGpt2 ? 6 : 2;
  shape.mlp_width = 256;
  shape.vocabulary = 640;
  shape.context = 128;
  shape.tied_head = tried.tied;
  if (tried.change != nullptr) tried.change(shape);
  return shape;
}

void set(trace::Settings& settings, const char* knob, const char* text) {
  const auto done = trace::set_value(settings, knob, text);
  if (!done) throw std::invalid_argument(done.error().message);
}

}  // namespace

trace::PlannedJob job_of(const MemoryCase& tried) {
  trace::PlannedJob job;
  job.shape = shape_of(tried);
  job.settings.batch_per_rank = 4;
  job.settings.sequence_length = 128;
  set(job.settings, "precision", tried.precision);
  job.settings.dropout = tried.dropout;
  job.settings.activation_checkpointing = tried.recompute;
  job.settings.optimizer = trace::OptimizerChoice::kSgd;
  job.settings.loss_chunk_tokens = tried.loss_chunk;
  set(job.settings, "base_dtype", tried.base);
  job.settings.frozen_blocks = tried.frozen_blocks;
  if (*tried.adapters != 0) {
    job.settings.lora_rank = 8;
    job.settings.lora_target_modules = tried.adapters;
  }
  if (tried.is_gathered_in_16_bits) {
    job.settings.sharding_strategy = trace::Strategy::kFullShard;
    job.settings.param_dtype = trace::DataType::kBf16;
  }
  return job;
}

std::vector<MemoryCase> model_cases() {
  return {
      {"Gpt2", ModelLayout::kGpt2},
      {"Gpt2Autocast", ModelLayout::kGpt2, true, "bf16"},
      {"Gpt2Dropout", ModelLayout::kGpt2, true, "fp32", 0.1},
      {"Gpt2AutocastDropout", ModelLayout::kGpt2, true, "bf16", 0.1},
      {"Gpt2Recompute", ModelLayout::kGpt2, true, "fp32", 0, 1},
      {"Gpt2RecomputeFewTokens", ModelLayout::kGpt2, true, "fp32", 0, 1, false, 0,
       with_small_vocabulary},
      {"Llama", ModelLayout::kLlama, false},
      {"LlamaTied", ModelLayout::kLlama, true},
      {"LlamaAutocast", ModelLayout::kLlama, false, "bf16"},
      {"LlamaDropout", ModelLayout::kLlama, false, "fp32", 0.1},
      {"LlamaRecompute", ModelLayout::kLlama, false, "fp32", 0, 2},
      {"LlamaAutocastRecompute", ModelLayout::kLlama, false, "bf16", 0, 1},
      {"Gpt2Chunks", ModelLayout::kGpt2, true, "fp32", 0, 0, false, 128},
      {"Gpt2OneChunk", ModelLayout::kGpt2, true, "fp32", 0, 0, false, 512},
      {"Gpt2AutocastChunks", ModelLayout::kGpt2, true, "bf16", 0, 0, false, 128},
      {"Gpt2Untied", ModelLayout::kGpt2, false},
      {"LlamaChunks", ModelLayout::kLlama, false, "fp32", 0, 0, false, 128},
      {"LlamaAutocastOneChunk", ModelLayout::kLlama, false, "bf16", 0, 0, false, 512},
      {"LlamaChunksRecompute", ModelLayout::kLlama, false, "fp32", 0, 2, false, 256},
      {"Qwen2", ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_qwen2},
      {"LlamaWithBiases", ModelLayout::kLlama, true, "fp32", 0, 0, false, 0, with_all_biases},
      {"LlamaWithBiasesAutocast", ModelLayout::kLlama, true, "bf16", 0, 0, false, 0,
       with_all_biases},
      {"Qwen3", ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_qwen3},
      {"Qwen3Recompute", ModelLayout::kLlama, false, "fp32", 0, 1, false, 0, as_qwen3},
      {"Mistral", ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_mistral},
      {"Bert", ModelLayout::kBert, false, "fp32", 0, 0, false, 0, as_encoder},
      {"BertDropout", ModelLayout::kBert, false, "fp32", 0.1, 0, false, 0, as_encoder},
      {"BertRecompute", ModelLayout::kBert, false, "fp32", 0, 1, false, 0, as_encoder},
      {"BertAutocast", ModelLayout::kBert, false, "bf16", 0, 0, false, 0, as_encoder},
      {"Roberta", ModelLayout::kRoberta, false, "fp32", 0, 0, false, 0, as_encoder},
      // The second chunk is smaller than the first.
      {"Gpt2WideChunks", ModelLayout::kGpt2, true, "fp32", 0, 0, false, 384, with_large_vocabulary},
      {"LlamaWideAutocastChunks", ModelLayout::kLlama, false, "bf16", 0, 0, false, 384,
       with_large_vocabulary},
  };
}

std::vector<MemoryCase> model_in_16_bits_cases() {
  return {
      {"Gpt2In16Bits", ModelLayout::kGpt2, true, "fp32", 0, 0, true},
      {"LlamaIn16Bits", ModelLayout::kLlama, false, "fp32", 0, 0, true},
      {"LlamaIn16BitsChunks", ModelLayout::kLlama, false, "fp32", 0, 0, true, 128},
  };
}

std::vector<MemoryCase> adapter_cases() {
  return {
      {.name = "Gpt2", .layout = ModelLayout::kGpt2, .adapters = "auto"},
      {.name = "Gpt2All", .layout = ModelLayout::kGpt2, .adapters = "all-linear"},
      {.name = "Gpt2Nf4", .layout = ModelLayout::kGpt2, .adapters = "all-linear", .base = "nf4"},
      {.name = "Gpt2Chunks",
       .layout = ModelLayout::kGpt2,
       .loss_chunk = 128,
       .adapters = "all-linear"},
      {.name = "Gpt2Autocast",
       .layout = ModelLayout::kGpt2,
       .precision = "bf16",
       .adapters = "all-linear"},
      {.name = "Gpt2AutocastFp32",
       .layout = ModelLayout::kGpt2,
       .precision = "bf16",
       .adapters = "all-linear",
       .base = "fp32"},
      {.name = "BertAutocastFp32",
       .layout = ModelLayout::kBert,
       .tied = false,
       .precision = "bf16",
       .change = as_encoder,
       .adapters = "all-linear",
       .base = "fp32"},
      {.name = "Llama", .layout = ModelLayout::kLlama, .tied = false, .adapters = "auto"},
      {.name = "LlamaAll", .layout = ModelLayout::kLlama, .tied = false, .adapters = "all-linear"},
      {.name = "LlamaNf4Autocast",
       .layout = ModelLayout::kLlama,
       .tied = false,
       .precision = "bf16",
       .adapters = "all-linear",
       .base = "nf4"},
      {.name = "LlamaBf16",
       .layout = ModelLayout::kLlama,
       .tied = false,
       .adapters = "auto",
       .base = "bf16"},
      {.name = "BertAll",
       .layout = ModelLayout::kBert,
       .tied = false,
       .change = as_encoder,
       .adapters = "all-linear"},
  };
}

std::vector<MemoryCase> wide_adapter_cases() {
  return {
      wide("Chunks", "fp32", 384, "auto"),         wide("OneChunk", "fp32", 512, "auto"),
      wide("AutocastChunks", "bf16", 384, "fp32"), wide("AutocastChunksBf16", "bf16", 384, "bf16"),
      wide("ChunksBf16", "fp32", 64, "bf16"),      wide("Bf16", "fp32", 0, "bf16"),
  };
}

std::vector<MemoryCase> recomputed_adapter_cases() {
  constexpr auto kGpt2 = ModelLayout::kGpt2, kLlama = ModelLayout::kLlama;
  constexpr auto kBert = ModelLayout::kBert;
  return {
      recomputed("Llama", kLlama, with_small_vocabulary, "auto"),
      recomputed("LlamaAll", kLlama, with_small_vocabulary, "all-linear"),
      recomputed("LlamaNf4", kLlama, with_small_vocabulary, "all-linear", "fp32", "nf4"),
      {.name = "LlamaNf4EverySecond",
       .layout = kLlama,
       .tied = false,
       .recompute = 2,
       .adapters = "all-linear",
       .base = "nf4"},
      recomputed("LlamaAutocast", kLlama, with_small_vocabulary, "all-linear", "bf16"),
      recomputed("LlamaNf4Autocast", kLlama, with_small_vocabulary, "all-linear", "bf16", "nf4"),
      recomputed("Qwen3", kLlama, as_qwen3, "all-linear"),
      recomputed("Gpt2", kGpt2, with_small_vocabulary, "auto"),
      recomputed("Gpt2All", kGpt2, with_small_vocabulary, "all-linear"),
      recomputed("Gpt2Nf4", kGpt2, with_small_vocabulary, "all-linear", "fp32", "nf4"),
      recomputed("Gpt2Autocast", kGpt2, with_small_vocabulary, "all-linear", "bf16"),
      recomputed("Gpt2Head", kGpt2, nullptr, "all-linear"),
      recomputed("Bert", kBert, as_encoder, "auto"),
      recomputed("BertAll", kBert, as_encoder, "all-linear"),
      recomputed("BertMlp", kBert, as_encoder, "intermediate.dense"),
      recomputed("BertAutocast", kBert, as_encoder, "all-linear", "bf16"),
  };
}

std::vector<MemoryCase> frozen_cases() {
  return {
      {.name = "Gpt2", .layout = ModelLayout::kGpt2, .frozen_blocks = 2},
      {.name = "Gpt2Bf16", .layout = ModelLayout::kGpt2, .base = "bf16", .frozen_blocks = 2},
      {.name = "Gpt2Bf16Recompute",
       .layout = ModelLayout::kGpt2,
       .recompute = 1,
       .change = with_small_vocabulary,
       .base = "bf16",
       .frozen_blocks = 4},
      {.name = "LlamaBf16Recompute",
       .layout = ModelLayout::kLlama,
       .recompute = 1,
       .change = with_small_vocabulary,
       .base = "bf16",
       .frozen_blocks = 4},
      {.name = "BertRecompute",
       .layout = ModelLayout::kBert,
       .tied = false,
       .recompute = 1,
       .change = as_encoder,
       .frozen_blocks = 4},
      {.name = "LlamaBf16",
       .layout = ModelLayout::kLlama,
       .tied = false,
       .base = "bf16",
       .frozen_blocks = 3},
      {.name = "LlamaBf16Autocast",
       .layout = ModelLayout::kLlama,
       .tied = false,
       .precision = "bf16",
       .base = "bf16",
       .frozen_blocks = 3},
      {.name = "BertBf16",
       .layout = ModelLayout::kBert,
       .tied = false,
       .change = as_encoder,
       .base = "bf16",
       .frozen_blocks = 2},
  };
}

}  // namespace shardlens::trainer
