#include "trainer/lora/adapter_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/files.h"
#include "tests/trainer/strategy/sharded_training.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/checkpoint/tensor_bytes.h"
#include "trainer/lora/base_weights.h"
#include "trainer/saving/model_saver.h"

namespace shardlens::trainer::lora {
namespace {

namespace fs = std::filesystem;

Training training_of(const std::string& strategy, const char* base, model::ModelLayout layout) {
  Training training;
  training.layout = layout;
  training.ranks = strategy.starts_with("hybrid") ? 4 : 2;
  trace::job::Settings& s = training.settings;
  EXPECT_TRUE(trace::job::set_value(s, "sharding_strategy", strategy));
  s.shard_group_size = 2;
  s.lora_rank = 3;
  s.lora_alpha = 12;
  s.lora_target_modules = "all-linear";
  EXPECT_TRUE(trace::job::set_value(s, "base_dtype", base));
  s.min_num_params = 1;
  return training;
}

// Adapters that change something, the same on all ranks.
void fill_adapters(model::Model& model) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(8);
  for (const tensor::NamedTensor& each : tensor::named_parameters_of(model)) {
    if (is_adapter_parameter(each.name)) torch::Tensor(each.tensor).normal_(0, 0.1, generator);
  }
}

using OnRank = std::function<void(model::Model&, strategy::Strategy&, comm::Communicator&)>;

void with_strategy(const Training& training, const OnRank& visit) {
  comm::on_ranks(training.ranks,
                 [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
                   const auto model = initial_model(training);
                   fill_adapters(*model);
                   const auto strategy = rank::build_strategy(
                       training.settings, *model, communicator, recorder, training.ranks);
                   visit(*model, *strategy, communicator);
                 });
}

class EveryKind
    : public testing::TestWithParam<std::tuple<const char*, const char*, model::ModelLayout>> {
 protected:
  Training training() const {
    return training_of(std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam()));
  }
};

TEST_P(EveryKind, MergedRangesTogetherAreTheMatrixPlusItsAdapters) {
  const auto whole = initial_model(training());
  fill_adapters(*whole);
  const auto values = whole->named_parameters();
  std::map<std::string, torch::Tensor> expected;
  for (const tensor::NamedTensor& each : tensor::named_parameters_of(*whole)) {
    if (!is_adapter_parameter(each.name)) expected[each.name] = each.tensor.detach().to(at::kFloat);
  }
  for (const NamedLinear& each : linear_layers_of(*whole)) {
    const auto change = at::mm(values[each.name + ".lora_B.weight"].detach(),
                               values[each.name + ".lora_A.weight"].detach()) *
                        (12.0 / 3);
    expected[each.name + ".weight"] =
        tensor::expand_matrix(each.layer->weight, each.layer->matrix_sizes(), torch::kFloat32) +
        (each.layer->is_transposed() ? change.t() : change);
  }
  std::mutex lock;
  std::map<std::string, std::int64_t> covered;
  with_strategy(training(), [&](model::Model& model, strategy::Strategy& strategy,
                                comm::Communicator& communicator) {
    const auto trained = gather_trained(model, strategy.local_parameters(), communicator);
    const MergedWeights weights(model, {3, 12}, trained);
    for (const strategy::LocalParameter& part : strategy.local_parameters()) {
      const auto range = weights.merged(part);
      ASSERT_EQ(range.has_value(), !is_adapter_parameter(part.name)) << part.name;
      if (!range) continue;
      const torch::Tensor& matrix = expected.at(part.name);
      EXPECT_EQ(range->sizes, matrix.sizes().vec()) << part.name;
      EXPECT_TRUE(torch::allclose(range->value, matrix.flatten().slice(0, range->begin, range->end),
                                  1e-6, 1e-6))
          << part.name;
      const std::lock_guard guard(lock);
      if (part.is_primary) covered[part.name] += range->end - range->begin;
    }
  });
  for (const auto& [name, matrix] : expected) EXPECT_EQ(covered[name], matrix.numel()) << name;
}

TEST_P(EveryKind, GatherWhatEveryRankHasTrained) {
  const auto whole = initial_model(training());
  fill_adapters(*whole);
  with_strategy(training(), [&](model::Model& model, strategy::Strategy& strategy,
                                comm::Communicator& communicator) {
    const auto trained = gather_trained(model, strategy.local_parameters(), communicator);
    std::size_t adapters = 0;
    for (const tensor::NamedTensor& each : tensor::named_parameters_of(*whole)) {
      if (!is_adapter_parameter(each.name)) continue;
      ++adapters;
      EXPECT_TRUE(torch::equal(trained.at(each.name), each.tensor.detach())) << each.name;
    }
    EXPECT_EQ(trained.size(), adapters);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Adapters, EveryKind,
    testing::Values(std::tuple{"ddp", "nf4", model::ModelLayout::kGpt2},
                    std::tuple{"zero1", "fp32", model::ModelLayout::kLlama},
                    std::tuple{"full_shard", "nf4", model::ModelLayout::kGpt2},
                    std::tuple{"full_shard", "nf4", model::ModelLayout::kLlama},
                    std::tuple{"hybrid_shard", "bf16", model::ModelLayout::kGpt2}),
    [](const auto& kind) {
      return std::string(std::get<0>(kind.param)) + "_" + std::get<1>(kind.param) +
             (std::get<2>(kind.param) == model::ModelLayout::kGpt2 ? "_gpt2" : "_llama");
    });

TEST(AdapterFolder, HoldsWhatPeftReads) {
  const trace::test::Folder parent;
  const fs::path folder = parent / "adapter";
  fs::create_directories(folder / "stale");
  const auto training = training_of("full_shard", "fp32", model::ModelLayout::kGpt2);
  with_strategy(training, [&](model::Model& model, strategy::Strategy& strategy,
                              comm::Communicator& communicator) {
    const auto trained = gather_trained(model, strategy.local_parameters(), communicator);
    const auto saved =
        save_adapter(folder, {{3, 12, 0.25}, "/models/gpt2"}, model, trained, communicator);
    EXPECT_TRUE(saved) << saved.error().message;
  });
  EXPECT_FALSE(fs::exists(folder / "stale"));
  const auto config = nlohmann::json::parse(std::ifstream(folder / "adapter_config.json"));
  EXPECT_EQ(config["peft_type"], "LORA");
  EXPECT_EQ(config["task_type"], "CAUSAL_LM");
  EXPECT_EQ(config["r"], 3);
  EXPECT_EQ(config["lora_alpha"], 12);
  EXPECT_EQ(config["lora_dropout"], 0.25);
  EXPECT_EQ(config["fan_in_fan_out"], true);
  EXPECT_EQ(config["base_model_name_or_path"], "/models/gpt2");
  EXPECT_EQ(config["target_modules"], (std::vector<std::string>{"c_attn", "c_proj", "c_fc"}));
  EXPECT_TRUE(config["modules_to_save"].is_null());
  const auto file = checkpoint::SafetensorsFile::open(folder / "adapter_model.safetensors");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 3u * 4u * 2u);
  const auto* entry = file->find("base_model.model.transformer.h.1.attn.c_attn.lora_B.weight");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->sizes, (std::vector<std::int64_t>{60, 3}));
}

// On a hub, a preset's name is that of other weights.
TEST(AdapterFolder, NamesTheFolderOfItsModelAndNoPreset) {
  for (const std::string model_name : {"gpt2", "/models/gpt2"}) {
    const trace::test::Folder parent;
    auto training = training_of("ddp", "fp32", model::ModelLayout::kGpt2);
    training.settings.model = model_name;
    with_strategy(training, [&](model::Model& model, strategy::Strategy& strategy,
                                comm::Communicator& communicator) {
      const trace::job::ModelShape shape{};
      const auto saver = saving::ModelSaver::create(
          {training.settings, parent.path(), shape, model, {}, {}, {}}, /*is_first=*/false);
      ASSERT_TRUE(saver);
      EXPECT_EQ(saver->save(strategy, communicator).value(), parent / "adapter");
    });
    const auto config =
        nlohmann::json::parse(std::ifstream(parent / "adapter" / "adapter_config.json"));
    const auto& base = config["base_model_name_or_path"];
    EXPECT_EQ(base, model_name == "gpt2" ? nlohmann::json() : nlohmann::json(model_name));
  }
}

// As the pooler of a BERT whose folder has none.
TEST(AdapterFolder, HoldsWholeWhatTheModelsFolderDoesNotHave) {
  const std::string layer = "transformer.h.1.mlp.c_fc", norm = "transformer.ln_f";
  for (const char* base : {"fp32", "nf4"}) {
    const trace::test::Folder parent;
    const fs::path folder = parent / "adapter";
    const auto training = training_of("full_shard", base, model::ModelLayout::kGpt2);
    with_strategy(training, [&](model::Model& model, strategy::Strategy& strategy,
                                comm::Communicator& communicator) {
      const auto parameters = strategy.local_parameters();
      auto trained = gather_trained(model, parameters, communicator);
      add_whole({layer + ".weight", norm + ".bias"}, model, {3, 12}, parameters, communicator,
                trained);
      EXPECT_TRUE(save_adapter(folder, {{3, 12}, ""}, model, trained, communicator));
    });
    const auto config = nlohmann::json::parse(std::ifstream(folder / "adapter_config.json"));
    EXPECT_EQ(config["modules_to_save"], (std::vector<std::string>{layer, norm}));
    const auto targets = config["target_modules"].get<std::set<std::string>>();
    EXPECT_FALSE(targets.contains(layer));
    EXPECT_TRUE(targets.contains("transformer.h.0.mlp.c_fc"));
    const auto file = checkpoint::SafetensorsFile::open(folder / "adapter_model.safetensors");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->find("base_model.model." + layer + ".lora_A.weight"), nullptr);
    EXPECT_NE(file->find("base_model.model." + norm + ".bias"), nullptr);
    const auto* entry = file->find("base_model.model." + layer + ".weight");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->sizes, (std::vector<std::int64_t>{20, 42}));

    const auto whole = initial_model(training);
    fill_adapters(*whole);
    const auto values = whole->named_parameters();
    const auto change = at::mm(values[layer + ".lora_B.weight"].detach(),
                               values[layer + ".lora_A.weight"].detach());
    const auto expected =
        tensor::expand_matrix(values[layer + ".weight"].detach(), {20, 42}, torch::kFloat32) +
        change.t() * 4;
    torch::Tensor saved = torch::empty({20, 42});
    ASSERT_TRUE(file->read(*entry, 0, checkpoint::writable_bytes_of_tensor(saved)));
    EXPECT_TRUE(torch::allclose(saved, expected, 1e-6, 1e-6)) << base;
  }
}

TEST(AdapterFolder, ThatCannotBeWrittenIsAnErrorOnAllRanks) {
  const auto training = training_of("ddp", "fp32", model::ModelLayout::kGpt2);
  with_strategy(training, [&](model::Model& model, strategy::Strategy& strategy,
                              comm::Communicator& communicator) {
    const auto trained = gather_trained(model, strategy.local_parameters(), communicator);
    const auto saved = save_adapter("/proc/nowhere/adapter", {}, model, trained, communicator);
    ASSERT_FALSE(saved);
    EXPECT_NE(saved.error().message.find("/proc/nowhere/adapter"), std::string::npos);
  });
}

std::string fingerprint_of(const Training& training) {
  std::mutex lock;
  std::set<std::string> found;
  with_strategy(
      training, [&](model::Model&, strategy::Strategy& strategy, comm::Communicator& communicator) {
        const auto fingerprint = base_fingerprint(strategy.local_parameters(), communicator);
        const std::lock_guard guard(lock);
        found.insert(fingerprint);
      });
  EXPECT_EQ(found.size(), 1u);
  return *found.begin();
}

TEST(BaseFingerprint, IsTheSameForEveryStrategyAndAnotherForOtherWeights) {
  std::set<std::string> kinds;
  for (const char* base : {"fp32", "bf16", "nf4"}) {
    const auto of = [&](const char* strategy) {
      return fingerprint_of(training_of(strategy, base, model::ModelLayout::kGpt2));
    };
    const std::string expected = of("ddp");
    for (const char* strategy : {"zero1", "no_shard", "full_shard", "hybrid_shard"}) {
      EXPECT_EQ(of(strategy), expected) << strategy << " " << base;
    }
    kinds.insert(expected);
  }
  EXPECT_EQ(kinds.size(), 3u);
}

}  // namespace
}  // namespace shardlens::trainer::lora
