#include "tests/trainer/memory/memory_prediction_cases.h"

#include <stdexcept>

namespace shardlens::trainer {

namespace {

void as_qwen2(model::ModelShape& shape) { shape.qkv_bias = true; }
void with_all_biases(model::ModelShape& shape) {
  shape.qkv_bias = shape.output_bias = shape.mlp_bias = true;
}
void as_qwen3(model::ModelShape& shape) {
  shape.head_size = 24;  // wider than the model together
  shape.qk_norm = true;
}
void as_mistral(model::ModelShape& shape) { shape.window = 48; }
// So few tokens that memory is highest in a block.
void with_small_vocabulary(model::ModelShape& shape) { shape.vocabulary = 64; }
// So many that memory is highest in the head.
void with_large_vocabulary(model::ModelShape& shape) {
  shape.layers = 1;
  shape.vocabulary = 8192;
}
void as_encoder(model::ModelShape& shape) {
  shape.kv_heads = shape.heads;
  shape.tied_head = false;
  shape.token_types = 2;
  shape.padding_token = 0;
  shape.context = 132;  // RoBERTa has no use for the first
  shape.activation = model::Activation::kGelu;
  shape.labels = 3;
}

MemoryCase recomputed(const char* name, model::ModelLayout layout,
                      void (*change)(model::ModelShape&), const char* adapters,
                      const char* precision = "fp32", const char* base = "auto") {
  return {.name = name,
          .layout = layout,
          .tied = layout == model::ModelLayout::kGpt2,
          .precision = precision,
          .recompute = 1,
          .change = change,
          .adapters = adapters,
          .base = base};
}

MemoryCase wide(const char* name, const char* precision, std::int64_t loss_chunk,
                const char* base) {
  return {.name = name,
          .layout = model::ModelLayout::kGpt2,
          .precision = precision,
          .loss_chunk = loss_chunk,
          .change = with_large_vocabulary,
          .adapters = "auto",
          .base = base};
}

model::ModelShape shape_of(const MemoryCase& tried) {
  model::ModelShape shape;
  shape.name = "probe";
  shape.layout = tried.layout;
  shape.layers = 4;
  shape.width = 96;
  shape.heads = 6;
  shape.kv_heads = tried.layout == model::ModelLayout::kGpt2 ? 6 : 2;
  shape.mlp_width = 256;
  shape.vocabulary = 640;
  shape.context = 128;
  shape.tied_head = tried.tied;
  if (tried.change != nullptr) tried.change(shape);
  return shape;
}

void set(trace::job::Settings& settings, const char* knob, const char* text) {
  const auto done = trace::job::set_value(settings, knob, text);
  if (!done) throw std::invalid_argument(done.error().message);
}

}  // namespace

trace::predict::PlannedJob job_of(const MemoryCase& tried) {
  trace::predict::PlannedJob job = trace::predict::job_on_this_machine({}, shape_of(tried));
  job.settings.batch_per_rank = 4;
  job.settings.sequence_length = 128;
  set(job.settings, "precision", tried.precision);
  job.settings.dropout = tried.dropout;
  job.settings.activation_checkpointing = tried.recompute;
  job.settings.optimizer = trace::job::OptimizerChoice::kSgd;
  job.settings.loss_chunk_tokens = tried.loss_chunk;
  set(job.settings, "base_dtype", tried.base);
  job.settings.frozen_blocks = tried.frozen_blocks;
  if (*tried.adapters != 0) {
    job.settings.lora_rank = 8;
    job.settings.lora_target_modules = tried.adapters;
  }
  if (tried.is_gathered_in_16_bits) {
    job.settings.sharding_strategy = trace::job::Strategy::kFullShard;
    job.settings.param_dtype = trace::job::DataType::kBf16;
  }
  return job;
}

std::vector<MemoryCase> model_cases() {
  return {
      {"Gpt2", model::ModelLayout::kGpt2},
      {"Gpt2Autocast", model::ModelLayout::kGpt2, true, "bf16"},
      {"Gpt2Dropout", model::ModelLayout::kGpt2, true, "fp32", 0.1},
      {"Gpt2AutocastDropout", model::ModelLayout::kGpt2, true, "bf16", 0.1},
      {"Gpt2Recompute", model::ModelLayout::kGpt2, true, "fp32", 0, 1},
      {"Gpt2RecomputeFewTokens", model::ModelLayout::kGpt2, true, "fp32", 0, 1, false, 0,
       with_small_vocabulary},
      {"Llama", model::ModelLayout::kLlama, false},
      {"LlamaTied", model::ModelLayout::kLlama, true},
      {"LlamaAutocast", model::ModelLayout::kLlama, false, "bf16"},
      {"LlamaDropout", model::ModelLayout::kLlama, false, "fp32", 0.1},
      {"LlamaRecompute", model::ModelLayout::kLlama, false, "fp32", 0, 2},
      {"LlamaAutocastRecompute", model::ModelLayout::kLlama, false, "bf16", 0, 1},
      {"Gpt2Chunks", model::ModelLayout::kGpt2, true, "fp32", 0, 0, false, 128},
      {"Gpt2OneChunk", model::ModelLayout::kGpt2, true, "fp32", 0, 0, false, 512},
      {"Gpt2AutocastChunks", model::ModelLayout::kGpt2, true, "bf16", 0, 0, false, 128},
      {"Gpt2Untied", model::ModelLayout::kGpt2, false},
      {"LlamaChunks", model::ModelLayout::kLlama, false, "fp32", 0, 0, false, 128},
      {"LlamaAutocastOneChunk", model::ModelLayout::kLlama, false, "bf16", 0, 0, false, 512},
      {"LlamaChunksRecompute", model::ModelLayout::kLlama, false, "fp32", 0, 2, false, 256},
      {"Qwen2", model::ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_qwen2},
      {"LlamaWithBiases", model::ModelLayout::kLlama, true, "fp32", 0, 0, false, 0,
       with_all_biases},
      {"LlamaWithBiasesAutocast", model::ModelLayout::kLlama, true, "bf16", 0, 0, false, 0,
       with_all_biases},
      {"Qwen3", model::ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_qwen3},
      {"Qwen3Recompute", model::ModelLayout::kLlama, false, "fp32", 0, 1, false, 0, as_qwen3},
      {"Mistral", model::ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_mistral},
      {"Bert", model::ModelLayout::kBert, false, "fp32", 0, 0, false, 0, as_encoder},
      {"BertDropout", model::ModelLayout::kBert, false, "fp32", 0.1, 0, false, 0, as_encoder},
      {"BertRecompute", model::ModelLayout::kBert, false, "fp32", 0, 1, false, 0, as_encoder},
      {"BertAutocast", model::ModelLayout::kBert, false, "bf16", 0, 0, false, 0, as_encoder},
      {"Roberta", model::ModelLayout::kRoberta, false, "fp32", 0, 0, false, 0, as_encoder},
      // The second chunk is smaller than the first.
      {"Gpt2WideChunks", model::ModelLayout::kGpt2, true, "fp32", 0, 0, false, 384,
       with_large_vocabulary},
      {"LlamaWideAutocastChunks", model::ModelLayout::kLlama, false, "bf16", 0, 0, false, 384,
       with_large_vocabulary},
  };
}

std::vector<MemoryCase> model_in_16_bits_cases() {
  return {
      {"Gpt2In16Bits", model::ModelLayout::kGpt2, true, "fp32", 0, 0, true},
      {"LlamaIn16Bits", model::ModelLayout::kLlama, false, "fp32", 0, 0, true},
      {"LlamaIn16BitsChunks", model::ModelLayout::kLlama, false, "fp32", 0, 0, true, 128},
  };
}

std::vector<MemoryCase> adapter_cases() {
  return {
      {.name = "Gpt2", .layout = model::ModelLayout::kGpt2, .adapters = "auto"},
      {.name = "Gpt2All", .layout = model::ModelLayout::kGpt2, .adapters = "all-linear"},
      {.name = "Gpt2Nf4",
       .layout = model::ModelLayout::kGpt2,
       .adapters = "all-linear",
       .base = "nf4"},
      {.name = "Gpt2Chunks",
       .layout = model::ModelLayout::kGpt2,
       .loss_chunk = 128,
       .adapters = "all-linear"},
      {.name = "Gpt2Autocast",
       .layout = model::ModelLayout::kGpt2,
       .precision = "bf16",
       .adapters = "all-linear"},
      {.name = "Gpt2AutocastFp32",
       .layout = model::ModelLayout::kGpt2,
       .precision = "bf16",
       .adapters = "all-linear",
       .base = "fp32"},
      {.name = "BertAutocastFp32",
       .layout = model::ModelLayout::kBert,
       .tied = false,
       .precision = "bf16",
       .change = as_encoder,
       .adapters = "all-linear",
       .base = "fp32"},
      {.name = "Llama", .layout = model::ModelLayout::kLlama, .tied = false, .adapters = "auto"},
      {.name = "LlamaAll",
       .layout = model::ModelLayout::kLlama,
       .tied = false,
       .adapters = "all-linear"},
      {.name = "LlamaNf4Autocast",
       .layout = model::ModelLayout::kLlama,
       .tied = false,
       .precision = "bf16",
       .adapters = "all-linear",
       .base = "nf4"},
      {.name = "LlamaBf16",
       .layout = model::ModelLayout::kLlama,
       .tied = false,
       .adapters = "auto",
       .base = "bf16"},
      {.name = "BertAll",
       .layout = model::ModelLayout::kBert,
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
  constexpr auto kGpt2 = model::ModelLayout::kGpt2, kLlama = model::ModelLayout::kLlama;
  constexpr auto kBert = model::ModelLayout::kBert;
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
      {.name = "Gpt2", .layout = model::ModelLayout::kGpt2, .frozen_blocks = 2},
      {.name = "Gpt2Bf16", .layout = model::ModelLayout::kGpt2, .base = "bf16", .frozen_blocks = 2},
      {.name = "Gpt2Bf16Recompute",
       .layout = model::ModelLayout::kGpt2,
       .recompute = 1,
       .change = with_small_vocabulary,
       .base = "bf16",
       .frozen_blocks = 4},
      {.name = "LlamaBf16Recompute",
       .layout = model::ModelLayout::kLlama,
       .recompute = 1,
       .change = with_small_vocabulary,
       .base = "bf16",
       .frozen_blocks = 4},
      {.name = "BertRecompute",
       .layout = model::ModelLayout::kBert,
       .tied = false,
       .recompute = 1,
       .change = as_encoder,
       .frozen_blocks = 4},
      {.name = "LlamaBf16",
       .layout = model::ModelLayout::kLlama,
       .tied = false,
       .base = "bf16",
       .frozen_blocks = 3},
      {.name = "LlamaBf16Autocast",
       .layout = model::ModelLayout::kLlama,
       .tied = false,
       .precision = "bf16",
       .base = "bf16",
       .frozen_blocks = 3},
      {.name = "BertBf16",
       .layout = model::ModelLayout::kBert,
       .tied = false,
       .change = as_encoder,
       .base = "bf16",
       .frozen_blocks = 2},
  };
}

}  // namespace shardlens::trainer
