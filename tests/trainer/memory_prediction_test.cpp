// What trace/predict says of the model's layers, against the allocator's count of the model itself.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "profiler/torch/torch_sources.h"
#include "trace/model/loss_chunks.h"
#include "trace/predict/adapter_memory.h"
#include "trace/predict/encoder_block.h"
#include "trace/predict/head_memory.h"
#include "trace/predict/layer_memory.h"
#include "trace/predict/layer_sizes.h"
#include "trace/predict/memory_model.h"
#include "trainer/autocast_scope.h"
#include "trainer/model/build_model.h"
#include "trainer/model/recompute.h"
#include "trainer/strategy/named_tensor.h"
#include "trainer/trained_part.h"

namespace shardlens::trainer {
namespace {

using trace::MemoryCategory;

struct Case {
  const char* name;
  ModelLayout layout;
  bool tied = true;
  const char* precision = "fp32";
  double dropout = 0;
  std::int64_t recompute = 0;
  bool is_gathered_in_16_bits = false;
  std::int64_t loss_chunk = 0;  // tokens, of 512
  void (*change)(ModelShape&) = nullptr;
  const char* adapters = "";  // of which layers, beside frozen weights
  const char* base = "auto";
  std::int64_t frozen_blocks = 0;
};

void PrintTo(const Case& tried, std::ostream* out) { *out << tried.name; }

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
void as_encoder(ModelShape& shape) {
  shape.kv_heads = shape.heads;
  shape.tied_head = false;
  shape.token_types = 2;
  shape.padding_token = 0;
  shape.context = 132;  // RoBERTa has no use for the first
  shape.activation = Activation::kGelu;
  shape.labels = 3;
}

ModelShape shape_of(const Case& tried) {
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

trace::PlannedJob job_of(const Case& tried) {
  trace::PlannedJob job;
  job.shape = shape_of(tried);
  job.settings.batch_per_rank = 4;
  job.settings.sequence_length = 128;
  job.settings.precision = tried.precision;
  job.settings.dropout = tried.dropout;
  job.settings.activation_checkpointing = tried.recompute;
  job.settings.optimizer = "sgd";
  job.settings.loss_chunk_tokens = tried.loss_chunk;
  job.settings.base_dtype = tried.base;
  job.settings.frozen_blocks = tried.frozen_blocks;
  if (*tried.adapters != 0) {
    job.settings.lora_rank = 8;
    job.settings.lora_target_modules = tried.adapters;
  }
  if (tried.is_gathered_in_16_bits) {
    job.settings.sharding_strategy = "full_shard";
    job.settings.param_dtype = "bf16";
  }
  return job;
}

std::int64_t tensors_of(const trace::MemorySample& sample) {
  return sample.total_bytes() - sample.bytes[static_cast<std::size_t>(MemoryCategory::kOutside)];
}

class MemoryPrediction : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    torch::set_num_threads(1);
    ASSERT_TRUE(profiler::install_cpu_memory_tracker());
  }

  void SetUp() override {
    job_ = job_of(GetParam());
    model_ = build_any_model(job_.shape, {.dropout = GetParam().dropout});
    if (GetParam().is_gathered_in_16_bits) model_->to(torch::kBFloat16);
    ASSERT_TRUE(choose_trained_part(*model_, job_.settings));
    model_->train();
    recompute_every_nth_block(*model_, GetParam().recompute);
    tokens_ = torch::randint(job_.shape.vocabulary, {4, 129}, torch::kLong);
    before_ = tensors_of(profiler::sample_cpu_memory());
    profiler::take_cpu_memory_peak();
  }

  torch::Tensor forward() {
    const AutocastScope autocast(at::kCPU, compute_type(job_.settings.precision));
    TokenBatch batch;
    batch.inputs = tokens_.narrow(1, 0, 128);
    batch.targets = trace::is_encoder(job_.shape.layout) ? tokens_.select(1, 0).remainder(3)
                                                         : tokens_.narrow(1, 1, 128);
    batch.counted_targets = batch.targets.numel();
    const auto divisor = static_cast<double>(batch.counted_targets);
    const auto chunk = trace::loss_chunk_tokens(job_.settings, job_.shape, job_.tokens());
    if (chunk == 0) return model_->loss(batch, divisor);
    return model_->loss(batch, divisor, ChunkedLossOptions{chunk, {}});
  }

  trace::PlannedJob job_;
  std::shared_ptr<Model> model_;
  torch::Tensor tokens_;
  std::int64_t before_ = 0;
};

class SavedMemory : public MemoryPrediction {};

constexpr std::int64_t kGeneratorStateBytes = 5056;  // of at::CPUGeneratorImpl
constexpr double kIndexBytes = 32 << 10;             // of tokens and positions, rotary tables

// What dropout keeps of embeddings is within what is allowed.
TEST_P(SavedMemory, IsWhatForwardKeeps) {
  const torch::Tensor loss = forward();
  const std::int64_t saved = tensors_of(profiler::sample_cpu_memory()) - before_;
  std::int64_t predicted = trace::head_memory(job_).layer.saved_bytes();
  const bool is_adapted = job_.settings.lora_rank > 0;
  predicted -= GetParam().recompute > 0 ? 0 : trace::spared_by_first_block(job_);
  if (trace::is_encoder(job_.shape.layout) && !is_adapted) {
    predicted += trace::encoder_embeddings_memory(trace::layer_sizes(job_));
  }
  for (std::int64_t i = 0; i < job_.shape.layers; ++i) {
    const trace::LayerMemory block =
        trace::block_memory(job_, is_adapted || i < job_.settings.frozen_blocks);
    const bool recomputes = GetParam().recompute > 0 && i % GetParam().recompute == 0;
    predicted += recomputes ? block.input_bytes + kGeneratorStateBytes : block.saved_bytes();
  }
  const double share = GetParam().dropout > 0 ? 0.02 : 0.005;
  EXPECT_NEAR(static_cast<double>(predicted), static_cast<double>(saved),
              std::max(kIndexBytes, share * static_cast<double>(saved)));
}

TEST_P(MemoryPrediction, KnowsThePeakOfForwardAndBackward) {
  forward().backward();
  const std::int64_t peak = tensors_of(profiler::take_cpu_memory_peak()) - before_;
  const trace::MemoryPrediction prediction = trace::predict_memory(job_);
  const auto at = [&](MemoryCategory category) {
    return prediction.at_peak[static_cast<std::size_t>(category)];
  };
  const std::int64_t predicted = at(MemoryCategory::kActivations) + at(MemoryCategory::kGradients);
  EXPECT_NEAR(static_cast<double>(predicted), static_cast<double>(peak),
              0.05 * static_cast<double>(peak))
      << "in " << prediction.peak_place;
}

class KeptMemory : public MemoryPrediction {};

TEST_P(KeptMemory, IsThatOfTheParametersAsTheyAreKept) {
  std::int64_t kept = 0;
  for (const NamedTensor& each : named_parameters_of(*model_)) {
    kept += static_cast<std::int64_t>(each.tensor.nbytes());
  }
  const trace::MemoryPrediction prediction = trace::predict_memory(job_);
  EXPECT_EQ(prediction.at_peak[static_cast<std::size_t>(MemoryCategory::kParameters)], kept);
}

std::string name_of(const testing::TestParamInfo<Case>& tried) { return tried.param.name; }

const Case kModels[] = {
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
    {"LlamaWithBiasesAutocast", ModelLayout::kLlama, true, "bf16", 0, 0, false, 0, with_all_biases},
    {"Qwen3", ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_qwen3},
    {"Qwen3Recompute", ModelLayout::kLlama, false, "fp32", 0, 1, false, 0, as_qwen3},
    {"Mistral", ModelLayout::kLlama, false, "fp32", 0, 0, false, 0, as_mistral},
    {"Bert", ModelLayout::kBert, false, "fp32", 0, 0, false, 0, as_encoder},
    {"BertDropout", ModelLayout::kBert, false, "fp32", 0.1, 0, false, 0, as_encoder},
    {"BertRecompute", ModelLayout::kBert, false, "fp32", 0, 1, false, 0, as_encoder},
    {"BertAutocast", ModelLayout::kBert, false, "bf16", 0, 0, false, 0, as_encoder},
    {"Roberta", ModelLayout::kRoberta, false, "fp32", 0, 0, false, 0, as_encoder},
};
// Gradients and gathered copies are then the strategy's, not the model's.
const Case kModelsIn16Bits[] = {
    {"Gpt2In16Bits", ModelLayout::kGpt2, true, "fp32", 0, 0, true},
    {"LlamaIn16Bits", ModelLayout::kLlama, false, "fp32", 0, 0, true},
    {"LlamaIn16BitsChunks", ModelLayout::kLlama, false, "fp32", 0, 0, true, 128},
};

const Case kAdapters[] = {
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

// Blocks are computed again one at a time: what one keeps and makes counts where it is highest.
const Case kAdaptersRecomputed[] = {
    {.name = "Llama",
     .layout = ModelLayout::kLlama,
     .tied = false,
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "auto"},
    {.name = "LlamaAll",
     .layout = ModelLayout::kLlama,
     .tied = false,
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "all-linear"},
    {.name = "LlamaNf4",
     .layout = ModelLayout::kLlama,
     .tied = false,
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "all-linear",
     .base = "nf4"},
    {.name = "LlamaNf4EverySecond",
     .layout = ModelLayout::kLlama,
     .tied = false,
     .recompute = 2,
     .adapters = "all-linear",
     .base = "nf4"},
    {.name = "LlamaAutocast",
     .layout = ModelLayout::kLlama,
     .tied = false,
     .precision = "bf16",
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "all-linear"},
    {.name = "LlamaNf4Autocast",
     .layout = ModelLayout::kLlama,
     .tied = false,
     .precision = "bf16",
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "all-linear",
     .base = "nf4"},
    {.name = "Qwen3",
     .layout = ModelLayout::kLlama,
     .tied = false,
     .recompute = 1,
     .change = as_qwen3,
     .adapters = "all-linear"},
    {.name = "Gpt2",
     .layout = ModelLayout::kGpt2,
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "auto"},
    {.name = "Gpt2All",
     .layout = ModelLayout::kGpt2,
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "all-linear"},
    {.name = "Gpt2Nf4",
     .layout = ModelLayout::kGpt2,
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "all-linear",
     .base = "nf4"},
    {.name = "Gpt2Autocast",
     .layout = ModelLayout::kGpt2,
     .precision = "bf16",
     .recompute = 1,
     .change = with_small_vocabulary,
     .adapters = "all-linear"},
    {.name = "Gpt2Head", .layout = ModelLayout::kGpt2, .recompute = 1, .adapters = "all-linear"},
    {.name = "Bert",
     .layout = ModelLayout::kBert,
     .tied = false,
     .recompute = 1,
     .change = as_encoder,
     .adapters = "auto"},
    {.name = "BertAll",
     .layout = ModelLayout::kBert,
     .tied = false,
     .recompute = 1,
     .change = as_encoder,
     .adapters = "all-linear"},
    {.name = "BertMlp",
     .layout = ModelLayout::kBert,
     .tied = false,
     .recompute = 1,
     .change = as_encoder,
     .adapters = "intermediate.dense"},
    {.name = "BertAutocast",
     .layout = ModelLayout::kBert,
     .tied = false,
     .precision = "bf16",
     .recompute = 1,
     .change = as_encoder,
     .adapters = "all-linear"},
};

const Case kFrozen[] = {
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

INSTANTIATE_TEST_SUITE_P(AdaptersRecomputed, MemoryPrediction,
                         testing::ValuesIn(kAdaptersRecomputed), name_of);
INSTANTIATE_TEST_SUITE_P(AdaptersRecomputed, SavedMemory, testing::ValuesIn(kAdaptersRecomputed),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Frozen, MemoryPrediction, testing::ValuesIn(kFrozen), name_of);
INSTANTIATE_TEST_SUITE_P(Frozen, SavedMemory, testing::ValuesIn(kFrozen), name_of);
INSTANTIATE_TEST_SUITE_P(Frozen, KeptMemory, testing::ValuesIn(kFrozen), name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, KeptMemory, testing::ValuesIn(kAdapters), name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, MemoryPrediction, testing::ValuesIn(kAdapters), name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, SavedMemory, testing::ValuesIn(kAdapters), name_of);
INSTANTIATE_TEST_SUITE_P(Models, MemoryPrediction, testing::ValuesIn(kModels), name_of);
INSTANTIATE_TEST_SUITE_P(Models, SavedMemory, testing::ValuesIn(kModels), name_of);
INSTANTIATE_TEST_SUITE_P(ModelsIn16Bits, SavedMemory, testing::ValuesIn(kModelsIn16Bits), name_of);

}  // namespace
}  // namespace shardlens::trainer
