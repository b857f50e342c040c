#include "trace/job/shape/lora.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::trace::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kBert{
    "bert.encoder.layer.0.attention.self.query", "bert.encoder.layer.0.attention.self.key",
    "bert.encoder.layer.0.attention.self.value", "bert.encoder.layer.0.attention.output.dense",
    "bert.encoder.layer.0.intermediate.dense",   "bert.pooler.dense"};

ModelShape shape_of(const char* name) { return *find_planning_model(name); }

Settings adapting(const char* targets, std::int64_t rank = 8) {
  Settings settings;
  settings.model = "gpt2";
  settings.lora_rank = rank;
  settings.lora_target_modules = targets;
  return settings;
}

TEST(LoraTargets, AreThoseOfTheFamilyIfLeftToTheProgram) {
  EXPECT_THAT(*lora_targets("auto", kBert), ElementsAre(kBert[0], kBert[2]));
}

TEST(LoraTargets, MatchWholePartsAtTheEndOfNames) {
  EXPECT_THAT(*lora_targets("dense", kBert), ElementsAre(kBert[3], kBert[4], kBert[5]));
  EXPECT_THAT(*lora_targets(" output.dense , key", kBert), ElementsAre(kBert[1], kBert[3]));
  EXPECT_FALSE(lora_targets("ense", kBert));
  EXPECT_THAT(*lora_targets("all-linear", kBert), testing::ElementsAreArray(kBert));
}

TEST(LoraTargets, ThatMatchNothingAreAnErrorThatListsTheLayers) {
  const auto targets = lora_targets("dense,c_attn", kBert);
  ASSERT_FALSE(targets);
  EXPECT_THAT(targets.error().message,
              testing::AllOf(HasSubstr("\"c_attn\""), HasSubstr("query, key, value, dense")));
  EXPECT_FALSE(lora_targets("auto", std::vector<std::string>{"mixer.in_proj"}));
}

TEST(LinearLayers, HaveTheirSidesInEitherLayout) {
  const auto gpt2 = linear_layers(shape_of("gpt2"));
  ASSERT_EQ(gpt2.size(), 4u * 12);
  EXPECT_EQ(gpt2[0].name, "transformer.h.0.attn.c_attn");
  EXPECT_EQ(gpt2[0].in, 768);
  EXPECT_EQ(gpt2[0].out, 3 * 768);
  const auto llama = linear_layers(shape_of("llama-8b"));
  ASSERT_EQ(llama.size(), 7u * 32);
  EXPECT_EQ(llama[1].name, "model.layers.0.self_attn.k_proj");
  EXPECT_EQ(llama[1].in, 4096);
  EXPECT_EQ(llama[1].out, 1024);
}

// Published: LoRA with rank 8 on query and value of Llama 2 7B trains 4,194,304 values, and on
// GPT-2's c_attn 294,912 (peft's print_trainable_parameters()).
TEST(TrainedShare, IsWhatPeftPrints) {
  EXPECT_EQ(trained_share(shape_of("llama-7b"), adapting("auto")).trained, 4194304);
  const TrainedShare gpt2 = trained_share(shape_of("gpt2"), adapting("auto"));
  EXPECT_EQ(gpt2.trained, 294912);
  EXPECT_EQ(gpt2.all, 124734720);
}

TEST(TrainedShare, WithoutAdaptersLeavesOutFrozenBlocks) {
  const ModelShape shape = shape_of("gpt2");
  EXPECT_EQ(trained_share(shape, {}).trained, parameter_count(shape));
  Settings settings;
  settings.frozen_blocks = 5;
  const std::int64_t block = (parameter_count(shape) - (50257 + 1024) * 768 - 2 * 768) / 12;
  EXPECT_EQ(trained_share(shape, settings).trained, parameter_count(shape) - 5 * block);
  EXPECT_EQ(trained_share(shape, settings).all, parameter_count(shape));
}

TEST(LoraFlops, CountFrozenWeightsFourTimesAndThoseWithoutGradientTwice) {
  const ModelShape shape = shape_of("gpt2");
  Settings settings = adapting("auto");
  settings.sequence_length = 1024;
  const std::int64_t attention = std::int64_t{12} * 12 * 768 * 1024;
  // Below: the first norm, c_attn with its bias. The tied embedding is the output.
  const std::int64_t below = 2 * 768 + 768 * 3 * 768 + 3 * 768;
  const std::int64_t positions = 1024 * 768;  // are only looked up
  EXPECT_EQ(
      flops_per_token(shape, settings, settings.sequence_length),
      6 * 294912 + 4 * (parameter_count(shape) - positions) - 2 * below - 2 * 8 * 768 + attention)
      << "the first adapter's first factor hands nothing on, either";

  const ModelShape llama = shape_of("llama-8b");
  Settings values = adapting("v_proj");
  values.sequence_length = 1024;
  // q_proj and k_proj read the same input, that of a norm, which needs no gradient.
  const std::int64_t below_values = 4096 * (4096 + 2 * 1024) + 4096;
  const std::int64_t embedding = std::int64_t{128256} * 4096;
  EXPECT_EQ(flops_per_token(llama, values, values.sequence_length),
            6 * trained_share(llama, values).trained + 4 * (parameter_count(llama) - embedding) -
                2 * below_values - 2 * 8 * 4096 + std::int64_t{12} * 32 * 4096 * 1024);
}

// The first block's attention lies in front of it, as both norms, registered last, do.
TEST(LoraFlops, CountOfWhatLiesBesideOrInFrontOfAnAdapterForwardAlone) {
  const ModelShape llama = shape_of("llama-8b");
  constexpr std::int64_t kTokens = 1024, kMlp = 14336;
  const std::int64_t without_gradient =
      4096 * (2 * 4096 + 2 * 1024) + 2 * 4096 + 2 * std::int64_t{4096} * kMlp;
  const std::int64_t embedding = std::int64_t{128256} * 4096;
  const std::int64_t attention = std::int64_t{4} * 4096 * kTokens;
  const Settings gates = adapting("gate_proj");
  EXPECT_EQ(flops_per_token(llama, gates, kTokens),
            6 * trained_share(llama, gates).trained + 4 * (parameter_count(llama) - embedding) -
                2 * without_gradient - 2 * 8 * 4096 + (3 * 31 + 1) * attention);
  EXPECT_EQ(flops_per_token(llama, gates, kTokens),
            flops_per_token(llama, adapting("up_proj"), kTokens))
      << "either reads what the other does";
}

TEST(LoraFlops, BeginInTheBlockThatHasTheFirstAdapter) {
  const ModelShape shape = shape_of("gpt2");
  const auto flops = [&](const char* target) {
    return flops_per_token(shape, adapting(target), 1024);
  };
  const std::int64_t block = 12 * 768 * 768 + 13 * 768, attention = 4 * 768 * 1024;
  EXPECT_EQ(flops("h.3.attn.c_attn") - flops("h.5.attn.c_attn"), 2 * (2 * block + 2 * attention))
      << "gradients of what flows through two more blocks";
}

TEST(LoraFlops, AreAsBeforeWithoutAdapters) {
  Settings settings;
  settings.frozen_blocks = 3;
  EXPECT_EQ(flops_per_token(shape_of("gpt2"), settings, settings.sequence_length),
            flops_per_token(shape_of("gpt2"), settings.sequence_length, 3));
}

TEST(LoraTargets, MayBeOfSingleBlocks) {
  const ModelShape shape = shape_of("gpt2");
  EXPECT_TRUE(are_blocks_adapted_alike(shape, {}));
  EXPECT_TRUE(are_blocks_adapted_alike(shape, adapting("auto")));
  EXPECT_TRUE(are_blocks_adapted_alike(shape, adapting("attn.c_proj, c_fc")));
  EXPECT_FALSE(are_blocks_adapted_alike(shape, adapting("h.3.mlp.c_fc")));
  EXPECT_FALSE(are_blocks_adapted_alike(shape, adapting("c_attn, h.0.mlp.c_fc")));
}

TEST(KeptTypes, FollowBaseDtypeAndWhatIsComputedIn) {
  const auto types = [](const char* base, const char* precision) {
    Settings settings = adapting("auto");
    EXPECT_TRUE(set_value(settings, "base_dtype", base));
    EXPECT_TRUE(set_value(settings, "precision", precision));
    const KeptTypes kept = kept_types(settings);
    return std::pair(kept.linear, kept.other);
  };
  using enum KeptType;
  EXPECT_EQ(types("auto", "fp32"), std::pair(kFp32, kFp32));
  EXPECT_EQ(types("auto", "bf16"), std::pair(kBf16, kBf16));
  EXPECT_EQ(types("fp32", "bf16"), std::pair(kFp32, kFp32));
  EXPECT_EQ(types("bf16", "fp32"), std::pair(kBf16, kBf16));
  EXPECT_EQ(types("nf4", "fp32"), std::pair(kNf4, kFp32));
  EXPECT_EQ(types("nf4", "bf16"), std::pair(kNf4, kBf16));
  EXPECT_EQ(kept_types(Settings{}).linear, kFp32);
}

TEST(Nf4Bytes, AreFourAndAHalfBitsPerValueInWholeBlocks) {
  EXPECT_EQ(nf4_bytes(64), 36);
  EXPECT_EQ(nf4_bytes(65), 72);
  EXPECT_EQ(nf4_bytes(std::int64_t{1} << 20), (std::int64_t{1} << 20) * 9 / 16);
}

TEST(SavedParameters, OfAnAdaptersJobAreTheAdapters) {
  const auto saved = saved_parameters(shape_of("gpt2"), adapting("auto", 4));
  ASSERT_EQ(saved.size(), 24u);
  EXPECT_EQ(saved[0].name, "transformer.h.0.attn.c_attn.lora_A.weight");
  EXPECT_THAT(saved[0].sizes, ElementsAre(4, 768));
  EXPECT_THAT(saved[1].sizes, ElementsAre(3 * 768, 4));
  EXPECT_EQ(saved_parameters(shape_of("gpt2"), {}).size(),
            parameter_shapes(shape_of("gpt2")).size());
}

std::vector<std::string_view> problem_knobs(const std::vector<const char*>& assignments) {
  Settings settings;
  for (const char* each : assignments) EXPECT_TRUE(set_assignment(settings, each)) << each;
  std::vector<std::string_view> knobs;
  for (const auto& problem : problems_of(settings)) knobs.push_back(problem.knob);
  return knobs;
}

TEST(LoraSettings, ThatContradictEachOtherAreRefused) {
  EXPECT_THAT(problem_knobs({"lora_rank=8"}), testing::IsEmpty());
  EXPECT_THAT(problem_knobs({"lora_rank=8", "base_dtype=nf4", "merge_lora=true"}),
              testing::IsEmpty());
  EXPECT_THAT(problem_knobs({"frozen_blocks=1", "base_dtype=bf16"}), testing::IsEmpty());
  EXPECT_THAT(problem_knobs({"lora_rank=8", "frozen_blocks=1"}), ElementsAre("frozen_blocks"));
  EXPECT_THAT(problem_knobs({"base_dtype=nf4"}), ElementsAre("base_dtype"));
  EXPECT_THAT(problem_knobs({"base_dtype=nf4", "frozen_blocks=1"}), ElementsAre("base_dtype"));
  EXPECT_THAT(problem_knobs({"base_dtype=bf16"}), ElementsAre("base_dtype"));
  EXPECT_THAT(problem_knobs({"merge_lora=true"}), ElementsAre("merge_lora"));
  EXPECT_THAT(problem_knobs({"lora_rank=8", "lora_target_modules=q_proj"}),
              ElementsAre("lora_target_modules"));
}

}  // namespace
}  // namespace shardlens::trace::job
