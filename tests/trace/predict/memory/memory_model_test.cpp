#include "trace/predict/memory/memory_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/trace/predict/predicted_jobs.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/layers/layer_memory.h"

namespace shardlens::trace::predict {
namespace {

// The formulas of one category, joined; "" where there is nothing.
std::string formula_of(const MemoryPrediction& prediction, model::MemoryCategory category) {
  std::string text;
  for (const MemoryTerm& term : prediction.terms) {
    if (term.category == category) text += (text.empty() ? "" : " + ") + term.formula;
  }
  return text;
}

using ::testing::HasSubstr;

std::int64_t at_peak(const MemoryPrediction& prediction, model::MemoryCategory category) {
  return prediction.at_peak[static_cast<std::size_t>(category)];
}

std::int64_t highest(const MemoryPrediction& prediction, model::MemoryCategory category) {
  return prediction.category_peaks[static_cast<std::size_t>(category)];
}

std::vector<PlannedJob> all_kinds_of_jobs() {
  std::vector<PlannedJob> jobs;
  for (const char* model : {"model=tiny", "model=llama-1b", "model=qwen2-7b"}) {
    for (const job::StrategyTraits& strategy : job::strategies()) {
      for (const char* how :
           {"precision=fp32", "precision=bf16", "dropout=0.1", "activation_checkpointing=2",
            "frozen_blocks=3", "gradient_accumulation_steps=4", "lora_rank=4"}) {
        for (const bool on_gpu : {false, true}) {
          jobs.push_back(
              job_of({model, "sharding_strategy=" + std::string(strategy.name), how}, 4));
          jobs.back().on_gpu = on_gpu;
          jobs.back().ranks_per_node = 2;
        }
      }
    }
  }
  return jobs;
}

TEST(MemoryModel, ReplicatesParametersGradientsMomentsAndBucketsUnderDdp) {
  const PlannedJob job = job_of({"model=gpt2", "batch_per_rank=1", "sequence_length=16"});
  std::int64_t parameters = 0;
  for (const job::ParameterShape& each : job::parameter_shapes(job.shape))
    parameters += each.numel();
  const MemoryPrediction prediction = predict_memory(job);
  EXPECT_EQ(at_peak(prediction, model::MemoryCategory::kParameters), 4 * parameters);
  EXPECT_EQ(highest(prediction, model::MemoryCategory::kGradients), 4 * parameters);
  EXPECT_EQ(at_peak(prediction, model::MemoryCategory::kCommunication), 4 * parameters);
  const auto tensors = static_cast<std::int64_t>(job::parameter_shapes(job.shape).size());
  EXPECT_EQ(at_peak(prediction, model::MemoryCategory::kOptimizer), 8 * parameters + 4 * tensors);
}

TEST(MemoryModel, FullShardHoldsTheShardTheRootAndTwoBlocks) {
  const PlannedJob job = job_of({"model=gpt2", "sharding_strategy=full_shard"}, 4);
  std::int64_t root = 0, block = 0, all = 0;
  for (const job::ParameterShape& each : job::parameter_shapes(job.shape)) {
    all += each.numel();
    if (each.block == job::ParameterShape::kRoot) root += each.numel();
    if (each.block == 0) block += each.numel();
  }
  const MemoryPrediction prediction = predict_memory(job);
  EXPECT_EQ(at_peak(prediction, model::MemoryCategory::kParameters), all);  // 4 B / 4 ranks
  EXPECT_EQ(highest(prediction, model::MemoryCategory::kGatheredParameters),
            4 * (root + 2 * block));
}

TEST(MemoryModel, Zero1DividesOnlyMomentsAndByWholeParameters) {
  const MemoryPrediction ddp = predict_memory(job_of({"model=gpt2"}, 4));
  const MemoryPrediction zero =
      predict_memory(job_of({"model=gpt2", "sharding_strategy=zero1"}, 4));
  EXPECT_EQ(at_peak(zero, model::MemoryCategory::kParameters),
            at_peak(ddp, model::MemoryCategory::kParameters));
  // wte alone is more than a quarter of GPT-2: 50257 x 768 of 124,439,808 values.
  EXPECT_EQ(at_peak(zero, model::MemoryCategory::kOptimizer), 8 * 50257 * 768 + 4);
}

TEST(MemoryModel, BucketViewsAndSgdLeaveOutWhatTheySay) {
  const MemoryPrediction views = predict_memory(job_of({"gradient_as_bucket_view=true"}));
  EXPECT_EQ(at_peak(views, model::MemoryCategory::kCommunication), 0);
  const MemoryPrediction sgd = predict_memory(job_of({"optimizer=sgd"}));
  EXPECT_EQ(at_peak(sgd, model::MemoryCategory::kOptimizer), 0);
}

TEST(MemoryModel, OffloadMovesShardsToTheHostOfAGpu) {
  const std::vector<std::string> settings{"model=llama-8b", "sharding_strategy=full_shard"};
  auto offloading = settings;
  offloading.push_back("cpu_offload=true");
  const MemoryPrediction on_device = predict_memory(gpu_job_of(settings, 8, 8));
  const MemoryPrediction offloaded = predict_memory(gpu_job_of(offloading, 8, 8));
  EXPECT_EQ(on_device.host_bytes, 0);
  EXPECT_EQ(at_peak(offloaded, model::MemoryCategory::kParameters), 0);
  EXPECT_EQ(at_peak(offloaded, model::MemoryCategory::kOptimizer), 0);
  EXPECT_NEAR(static_cast<double>(offloaded.host_bytes), 16.0 * 8030261248 / 8, 1e6);
  EXPECT_LT(offloaded.total(), on_device.total());
}

TEST(MemoryModel, FrozenBlocksAreKeptAndGatheredInTheirOwnType) {
  std::int64_t frozen = 0, trained = 0;
  for (const job::ParameterShape& each : job::parameter_shapes(*job::find_model_preset("tiny"))) {
    const bool is_frozen = each.block == 0 || each.block == 1;
    const std::int64_t bytes_each = is_frozen && each.sizes.size() == 2 ? 2 : 4;
    (is_frozen ? frozen : trained) += bytes_each * each.numel();
  }
  const std::vector<std::string> settings{"frozen_blocks=2", "base_dtype=bf16"};
  const auto kept = [&](const char* strategy) {
    auto with = settings;
    with.push_back("sharding_strategy=" + std::string(strategy));
    return at_peak(predict_memory(job_of(with, 4)), model::MemoryCategory::kParameters);
  };
  EXPECT_EQ(kept("ddp"), frozen + trained);
  EXPECT_EQ(kept("no_shard"), frozen + trained);
  EXPECT_EQ(kept("full_shard"), (frozen + trained) / 4);
  auto whole = settings;
  whole.insert(whole.end(), {"sharding_strategy=full_shard", "wrap_policy=whole_model"});
  const MemoryPrediction prediction = predict_memory(job_of(whole, 4));
  EXPECT_EQ(highest(prediction, model::MemoryCategory::kGatheredParameters), frozen + trained);
  EXPECT_THAT(formula_of(prediction, model::MemoryCategory::kParameters),
              HasSubstr("B of frozen ones"));
}

TEST(MemoryModel, RecomputationKeepsInputsInsteadOfActivations) {
  const std::vector<std::string> settings{"model=small", "batch_per_rank=8"};
  auto recomputing = settings;
  recomputing.push_back("activation_checkpointing=1");
  const MemoryPrediction all = predict_memory(job_of(settings));
  const MemoryPrediction few = predict_memory(job_of(recomputing));
  EXPECT_LT(4 * highest(few, model::MemoryCategory::kActivations),
            highest(all, model::MemoryCategory::kActivations));
}

// A BERT with an adapter in its pooler alone: backward comes to no block.
TEST(MemoryModel, BlocksThatNeedNoGradientKeepNothing) {
  const auto highest_activations = [](const char* targets, const char* recompute) {
    PlannedJob job = job_of({"lora_rank=4", targets, recompute});
    job.shape.layout = job::ModelLayout::kBert;
    job.shape.tied_head = false;
    job.shape.token_types = job.shape.labels = 2;
    return highest(predict_memory(job), model::MemoryCategory::kActivations);
  };
  const char *pooler = "lora_target_modules=pooler.dense", *queries = "lora_target_modules=query";
  const std::int64_t kept = highest_activations(pooler, "activation_checkpointing=0");
  EXPECT_EQ(kept, highest_activations(pooler, "activation_checkpointing=1"));
  EXPECT_LT(3 * kept, highest_activations(queries, "activation_checkpointing=0"));
}

TEST(MemoryModel, AccumulationWithoutReductionKeepsWholeGradients) {
  const std::vector<std::string> settings{"sharding_strategy=full_shard", "batch_per_rank=1",
                                          "gradient_accumulation_steps=4"};
  auto reducing = settings;
  reducing.push_back("sync_each_batch=true");
  const std::int64_t whole = 4 * job::parameter_count(*job::find_model_preset("tiny"));
  EXPECT_GE(highest(predict_memory(job_of(settings)), model::MemoryCategory::kGradients), whole);
  EXPECT_LT(highest(predict_memory(job_of(reducing)), model::MemoryCategory::kGradients), whole);
}

// As fully_shard, which adds up in reduce_dtype what was made in param_dtype.
TEST(MemoryModel, GradientsThatAreReducedInAnotherTypeAreAddedUpInIt) {
  const std::int64_t values = job::parameter_count(*job::find_model_preset("tiny"));
  const auto bytes_per_value = [&](const char* made, const char* reduced, const char* steps) {
    const PlannedJob job =
        job_of({"sharding_strategy=full_shard", "wrap_policy=whole_model", "batch_per_rank=1",
                std::string("param_dtype=") + made, std::string("reduce_dtype=") + reduced,
                std::string("gradient_accumulation_steps=") + steps});
    const std::int64_t bytes = highest(predict_memory(job), model::MemoryCategory::kGradients);
    EXPECT_EQ(bytes % values, 0);
    return bytes / values;
  };
  EXPECT_EQ(bytes_per_value("bf16", "fp32", "1"), 2);
  EXPECT_EQ(bytes_per_value("bf16", "fp32", "2"), 2 + 4) << "a gradient beside the sums";
  EXPECT_EQ(bytes_per_value("bf16", "fp32", "3"), 2 + 4);
  EXPECT_EQ(bytes_per_value("fp32", "bf16", "3"), 4 + 2);
  EXPECT_EQ(bytes_per_value("fp16", "bf16", "3"), 2 + 2);
  // A half of the reduced ones in bf16, and in fp32, is what comes of them.
  EXPECT_EQ(bytes_per_value("bf16", "bf16", "3"), 1 + 2);
}

TEST(MemoryModel, BackwardFreesAllThatForwardSaved) {
  for (const PlannedJob& job : all_kinds_of_jobs()) {
    for (const bool is_frozen : {false, true}) {
      const LayerMemory block = block_memory(job, is_frozen);
      std::int64_t released = 0, flowing = 0;
      for (const BackwardOperator& each : block.backward) {
        released += each.released;
        flowing += each.made - each.consumed;
      }
      EXPECT_EQ(released, block.saved_bytes())
          << job.shape.name << job::chosen<&job::Settings::precision>(job.settings);
      EXPECT_EQ(flowing, 0) << job.shape.name
                            << job::chosen<&job::Settings::precision>(job.settings);
    }
    const LayerMemory head = head_memory(job).layer;
    std::int64_t released = 0, flowing = 0;
    for (const BackwardOperator& each : head.backward) {
      released += each.released;
      flowing += each.made - each.consumed;
    }
    EXPECT_EQ(released, head.saved_bytes());
    EXPECT_EQ(flowing, head.input_bytes) << "the gradient that flows into the blocks";
  }
}

TEST(MemoryModel, ACpuThatMultipliesBf16InFp32NeedsMoreForThatAlone) {
  int more = 0;
  for (const PlannedJob& job : all_kinds_of_jobs()) {
    PlannedJob widened = job;
    widened.widens_bf16 = true;
    const std::int64_t plain = predict_peak_bytes(job), needed = predict_peak_bytes(widened);
    if (job.on_gpu || !job::computes_in_bf16(job.settings)) {
      EXPECT_EQ(needed, plain);
      continue;
    }
    // A product's result has as many values at most as the largest logits or the largest matrix.
    const std::int64_t widest = std::max({job.shape.vocabulary, job.shape.mlp_width});
    EXPECT_GE(needed, plain);
    EXPECT_LE(needed, plain + 4 * widest * std::max(job.tokens(), job.shape.width));
    more += needed > plain ? 1 : 0;
  }
  EXPECT_GT(more, 0);
}

TEST(MemoryModel, OnlyAGpuTakesLogitsInFp16WithoutACopyInFp32) {
  const auto scratch = [](const char* type, bool on_gpu) {
    PlannedJob job = job_of({"model=gpt2", "sharding_strategy=full_shard", "batch_per_rank=8",
                             "sequence_length=1024", "loss_chunk_tokens=2048", type});
    job.on_gpu = on_gpu;
    return head_memory(job).layer.forward_scratch;
  };
  const std::int64_t copy = 2048 * job_of({"model=gpt2"}).shape.vocabulary * 4;
  for (const std::string knob : {"precision=", "param_dtype="}) {
    const std::string bf16 = knob + "bf16", fp16 = knob + "fp16";
    EXPECT_EQ(scratch(bf16.c_str(), true) - scratch(fp16.c_str(), true), copy) << knob;
    EXPECT_EQ(scratch(bf16.c_str(), false), scratch(fp16.c_str(), false)) << knob;
  }
}

// The trainer goes by full sequences, whatever texts are padded to.
TEST(MemoryModel, OfPaddedTextsHasTheLossByChunksWhereFullOnesWould) {
  PlannedJob job = job_of({"model=gpt2", "batch_per_rank=8", "sequence_length=1024"});
  EXPECT_EQ(job.loss_chunk(), 2048);
  job.padded_width = 16;
  EXPECT_EQ(job.tokens(), 128) << "whose logits are small";
  EXPECT_EQ(job.loss_chunk(), 2048);
  EXPECT_TRUE(head_memory(job).gradient_is_added_to) << "by chunks";
  job.shape.layout = job::ModelLayout::kBert;
  EXPECT_EQ(job.loss_chunk(), 0) << "a classifier's";
}

TEST(MemoryModel, TermsSumToThePeakAndHaveFormulas) {
  for (const PlannedJob& job : all_kinds_of_jobs()) {
    const MemoryPrediction prediction = predict_memory(job);
    std::int64_t sum = 0;
    for (const MemoryTerm& term : prediction.terms) {
      EXPECT_GT(term.bytes, 0) << term.formula;
      EXPECT_FALSE(term.formula.empty());
      sum += term.bytes;
    }
    EXPECT_EQ(sum, prediction.total());
    EXPECT_EQ(predict_peak_bytes(job), prediction.total());
    for (std::size_t i = 0; i < prediction.at_peak.size(); ++i) {
      EXPECT_LE(prediction.at_peak[i], prediction.category_peaks[i]);
    }
  }
}

TEST(MemoryModel, FormulasHaveTheNumbersPutIn) {
  const MemoryPrediction prediction = predict_memory(job_of({"sharding_strategy=full_shard"}));
  EXPECT_EQ(formula_of(prediction, model::MemoryCategory::kParameters),
            "4 B x 2,384,448 parameters / 2 ranks (shard)");
  EXPECT_THAT(formula_of(prediction, model::MemoryCategory::kGatheredParameters),
              HasSubstr("4 B x 160,128 parameters of the root unit"));
  EXPECT_THAT(formula_of(prediction, model::MemoryCategory::kActivations),
              HasSubstr("1,024 tokens"));
  EXPECT_EQ(formula_of(prediction, model::MemoryCategory::kOutside), "");
}

// PyTorch 2.11, ATen/cuda/CublasHandlePool.cpp.
TEST(MemoryModel, CountsWhatCublasWorksInAsPyTorchGivesIt) {
  EXPECT_EQ(cublas_workspace_bytes("NVIDIA H100 80GB HBM3"), 32 << 20);
  EXPECT_EQ(cublas_workspace_bytes("NVIDIA GH200 480GB"), 32 << 20);
  EXPECT_EQ(cublas_workspace_bytes("NVIDIA A100-SXM4-40GB"), 8320 << 10);
  EXPECT_EQ(cublas_workspace_bytes("NVIDIA H200", ":4096:8"), 32 << 20);
  EXPECT_EQ(cublas_workspace_bytes("NVIDIA H200", ":16:8"), 128 << 10);
  EXPECT_EQ(cublas_workspace_bytes("NVIDIA A100", ":4096:2:16:8"), 8320 << 10);
  for (const char* unread : {"", "many", ":4096", ":x:8", ":-4:8"}) {
    EXPECT_EQ(cublas_workspace_bytes("NVIDIA A100", unread), 8320 << 10) << unread;
  }
  PlannedJob job = gpu_job_of({"model=gpt2"}, 2, 2);
  const std::int64_t without = predict_memory(job).total();
  job.workspace_bytes = 32 << 20;
  const MemoryPrediction prediction = predict_memory(job);
  EXPECT_EQ(prediction.total(), without + (64 << 20)) << "forward's thread and backward's";
  EXPECT_THAT(formula_of(prediction, model::MemoryCategory::kActivations),
              HasSubstr("2 threads x 33,554,432 B that cuBLAS works in"));
}

// Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", 2020,
// figure 1: 7.5 B parameters over 64 ranks, model states of 16 B per parameter: 120 GB for the
// baseline, 31.4 with the optimizer's 12 B divided, 16.6 with gradients divided too, 1.9 with all.
// There parameters and gradients have 2 B each and the optimizer keeps an fp32 copy; here
// parameters and gradients have 4 B each and there is no copy: 16 B too, divided as 8 + 4 + 4.
TEST(MemoryModel, DividesModelStatesAsTheZeroPaper) {
  job::ModelShape shape = *job::find_planning_model("llama-7b");
  shape.name = "7.5B";
  shape.vocabulary = 32000 + 92968;
  const double gigabytes = static_cast<double>(job::parameter_count(shape)) / 1e9;
  ASSERT_NEAR(gigabytes, 7.5, 0.001);
  const auto states = [&](const char* strategy) {
    PlannedJob job = gpu_job_of(
        {"sharding_strategy=" + std::string(strategy), "gradient_as_bucket_view=true"}, 64, 8);
    job.shape = shape;
    const MemoryPrediction prediction = predict_memory(job);
    return static_cast<double>(at_peak(prediction, model::MemoryCategory::kParameters) +
                               at_peak(prediction, model::MemoryCategory::kOptimizer)) /
           1e9;
  };
  EXPECT_NEAR(states("ddp"), 120 - 4 * 7.5, 0.1);             // gradients are not at rest
  EXPECT_NEAR(states("zero1"), 4 * 7.5 + 8 * 7.5 / 64, 3.5);  // whole parameters: the embedding
  EXPECT_NEAR(states("full_shard"), 12 * 7.5 / 64, 0.01);
  // Stage 3 at its best, gradients included: 1.9 GB, the paper's figure.
  EXPECT_NEAR(states("full_shard") + 4 * 7.5 / 64, 1.9, 0.05);
}

}  // namespace
}  // namespace shardlens::trace::predict
