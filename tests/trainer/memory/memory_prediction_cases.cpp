#include "tests/trainer/memory/memory_prediction_cases.h"

#include <stdexcept>

namespace shardlens::trainer {

namespace {

using enum model::ModelLayout;

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

MemoryCase partly_frozen(const char* name, model::ModelLayout layout,
                         void (*change)(model::ModelShape&), const char* adapters,
                         const char* precision = "fp32", const char* base = "auto") {
  return {.name = name,
          .layout = layout,
          .tied = layout == kGpt2,
          .precision = precision,
          .change = change,
          .adapters = adapters,
          .base = base};
}

MemoryCase recomputed(MemoryCase tried) {
  tried.recompute = 1;
  return tried;
}

MemoryCase frozen(std::int64_t blocks, MemoryCase tried) {
  tried.frozen_blocks = blocks;
  return tried;
}

MemoryCase wide(const char* name, const char* precision, std::int64_t loss_chunk,
                const char* base) {
  return {.name = name,
          .layout = kGpt2,
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
  shape.kv_heads = tried.layout == kGpt2 ? 6 : 2;
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
      {"Gpt2", kGpt2},
      {"Gpt2Autocast", kGpt2, true, "bf16"},
      {"Gpt2Dropout", kGpt2, true, "fp32", 0.1},
      {"Gpt2AutocastDropout", kGpt2, true, "bf16", 0.1},
      {"Gpt2Recompute", kGpt2, true, "fp32", 0, 1},
      {"Gpt2RecomputeFewTokens", kGpt2, true, "fp32", 0, 1, false, 0, with_small_vocabulary},
      {"Llama", kLlama, false},
      {"LlamaTied", kLlama, true},
      {"LlamaAutocast", kLlama, false, "bf16"},
      {"LlamaDropout", kLlama, false, "fp32", 0.1},
      {"LlamaRecompute", kLlama, false, "fp32", 0, 2},
      {"LlamaAutocastRecompute", kLlama, false, "bf16", 0, 1},
      {"Gpt2Chunks", kGpt2, true, "fp32", 0, 0, false, 128},
      {"Gpt2OneChunk", kGpt2, true, "fp32", 0, 0, false, 512},
      {"Gpt2AutocastChunks", kGpt2, true, "bf16", 0, 0, false, 128},
      {"Gpt2Untied", kGpt2, false},
      {"LlamaChunks", kLlama, false, "fp32", 0, 0, false, 128},
      {"LlamaAutocastOneChunk", kLlama, false, "bf16", 0, 0, false, 512},
      {"LlamaChunksRecompute", kLlama, false, "fp32", 0, 2, false, 256},
      {"Qwen2", kLlama, false, "fp32", 0, 0, false, 0, as_qwen2},
      {"LlamaWithBiases", kLlama, true, "fp32", 0, 0, false, 0, with_all_biases},
      {"LlamaWithBiasesAutocast", kLlama, true, "bf16", 0, 0, false, 0, with_all_biases},
      {"Qwen3", kLlama, false, "fp32", 0, 0, false, 0, as_qwen3},
      {"Qwen3Recompute", kLlama, false, "fp32", 0, 1, false, 0, as_qwen3},
      {"Mistral", kLlama, false, "fp32", 0, 0, false, 0, as_mistral},
      {"Bert", kBert, false, "fp32", 0, 0, false, 0, as_encoder},
      {"BertDropout", kBert, false, "fp32", 0.1, 0, false, 0, as_encoder},
      {"BertRecompute", kBert, false, "fp32", 0, 1, false, 0, as_encoder},
      {"BertAutocast", kBert, false, "bf16", 0, 0, false, 0, as_encoder},
      {"Roberta", kRoberta, false, "fp32", 0, 0, false, 0, as_encoder},
      // The second chunk is smaller than the first.
      {"Gpt2WideChunks", kGpt2, true, "fp32", 0, 0, false, 384, with_large_vocabulary},
      {"LlamaWideAutocastChunks", kLlama, false, "bf16", 0, 0, false, 384, with_large_vocabulary},
  };
}

std::vector<MemoryCase> model_in_16_bits_cases() {
  return {
      {"Gpt2In16Bits", kGpt2, true, "fp32", 0, 0, true},
      {"LlamaIn16Bits", kLlama, false, "fp32", 0, 0, true},
      {"LlamaIn16BitsChunks", kLlama, false, "fp32", 0, 0, true, 128},
  };
}

std::vector<MemoryCase> adapter_cases() {
  return {
      partly_frozen("Gpt2", kGpt2, nullptr, "auto"),
      partly_frozen("Gpt2All", kGpt2, nullptr, "all-linear"),
      partly_frozen("Gpt2Nf4", kGpt2, nullptr, "all-linear", "fp32", "nf4"),
      {.name = "Gpt2Chunks", .layout = kGpt2, .loss_chunk = 128, .adapters = "all-linear"},
      partly_frozen("Gpt2Autocast", kGpt2, nullptr, "all-linear", "bf16"),
      partly_frozen("Gpt2AutocastFp32", kGpt2, nullptr, "all-linear", "bf16", "fp32"),
      partly_frozen("BertAutocastFp32", kBert, as_encoder, "all-linear", "bf16", "fp32"),
      partly_frozen("Llama", kLlama, nullptr, "auto"),
      partly_frozen("LlamaAll", kLlama, nullptr, "all-linear"),
      partly_frozen("LlamaNf4Autocast", kLlama, nullptr, "all-linear", "bf16", "nf4"),
      partly_frozen("LlamaBf16", kLlama, nullptr, "auto", "fp32", "bf16"),
      partly_frozen("BertAll", kBert, as_encoder, "all-linear"),
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
  return {
      recomputed(partly_frozen("Llama", kLlama, with_small_vocabulary, "auto")),
      recomputed(partly_frozen("LlamaAll", kLlama, with_small_vocabulary, "all-linear")),
      recomputed(
          partly_frozen("LlamaNf4", kLlama, with_small_vocabulary, "all-linear", "fp32", "nf4")),
      {.name = "LlamaNf4EverySecond",
       .layout = kLlama,
       .tied = false,
       .recompute = 2,
       .adapters = "all-linear",
       .base = "nf4"},
      recomputed(
          partly_frozen("LlamaAutocast", kLlama, with_small_vocabulary, "all-linear", "bf16")),
      recomputed(partly_frozen("LlamaNf4Autocast", kLlama, with_small_vocabulary, "all-linear",
                               "bf16", "nf4")),
      recomputed(partly_frozen("Qwen3", kLlama, as_qwen3, "all-linear")),
      recomputed(partly_frozen("Gpt2", kGpt2, with_small_vocabulary, "auto")),
      recomputed(partly_frozen("Gpt2All", kGpt2, with_small_vocabulary, "all-linear")),
      recomputed(
          partly_frozen("Gpt2Nf4", kGpt2, with_small_vocabulary, "all-linear", "fp32", "nf4")),
      recomputed(partly_frozen("Gpt2Autocast", kGpt2, with_small_vocabulary, "all-linear", "bf16")),
      recomputed(partly_frozen("Gpt2Head", kGpt2, nullptr, "all-linear")),
      recomputed(partly_frozen("Bert", kBert, as_encoder, "auto")),
      recomputed(partly_frozen("BertAll", kBert, as_encoder, "all-linear")),
      recomputed(partly_frozen("BertMlp", kBert, as_encoder, "intermediate.dense")),
      recomputed(partly_frozen("BertAutocast", kBert, as_encoder, "all-linear", "bf16")),
  };
}

std::vector<MemoryCase> frozen_cases() {
  MemoryCase tied =
      partly_frozen("LlamaBf16Recompute", kLlama, with_small_vocabulary, "", "fp32", "bf16");
  tied.tied = true;
  return {
      frozen(2, partly_frozen("Gpt2", kGpt2, nullptr, "")),
      frozen(2, partly_frozen("Gpt2Bf16", kGpt2, nullptr, "", "fp32", "bf16")),
      frozen(4, recomputed(partly_frozen("Gpt2Bf16Recompute", kGpt2, with_small_vocabulary, "",
                                         "fp32", "bf16"))),
      frozen(4, recomputed(tied)),
      frozen(4, recomputed(partly_frozen("BertRecompute", kBert, as_encoder, ""))),
      frozen(3, partly_frozen("LlamaBf16", kLlama, nullptr, "", "fp32", "bf16")),
      frozen(3, partly_frozen("LlamaBf16Autocast", kLlama, nullptr, "", "bf16", "bf16")),
      frozen(2, partly_frozen("BertBf16", kBert, as_encoder, "", "fp32", "bf16")),
  };
}

}  // namespace shardlens::trainer
