// What trace/predict says of the model's layers, against the allocator's count of the model itself.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "profiler/pytorch/torch_sources.h"
#include "tests/trainer/memory/memory_prediction_cases.h"
#include "trace/job/shape/model_shape.h"
#include "trace/predict/layers/block_backward.h"
#include "trace/predict/layers/layer_memory.h"
#include "trace/predict/memory/memory_model.h"
#include "trace/predict/sizes/layer_sizes.h"
#include "trace/predict/sizes/model_sizes.h"
#include "trace/tuning/layer_moments.h"
#include "trainer/lora/base_weights.h"
#include "trainer/model/build_model.h"
#include "trainer/model/recompute.h"
#include "trainer/tensor/autocast_scope.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer {
namespace {

using trace::model::MemoryCategory;

std::int64_t tensors_of(const trace::model::MemorySample& sample) {
  return sample.total_bytes() - sample.bytes[static_cast<std::size_t>(MemoryCategory::kOutside)];
}

class MemoryPrediction : public testing::TestWithParam<MemoryCase> {
 protected:
  static void SetUpTestSuite() {
    at::set_num_threads(1);
    ASSERT_TRUE(profiler::pytorch::install_cpu_memory_tracker());
  }

  void SetUp() override {
    job_ = job_of(GetParam());
    model_ = model::build_any_model(job_.shape, {.dropout = GetParam().dropout});
    if (GetParam().is_gathered_in_16_bits) model_->to(torch::kBFloat16);
    ASSERT_TRUE(lora::choose_trained_part(*model_, job_.settings));
    model_->train();
    model::recompute_every_nth_block(*model_, GetParam().recompute);
    tokens_ = torch::randint(job_.shape.vocabulary, {4, 129}, torch::kLong);
    before_ = tensors_of(profiler::pytorch::sample_cpu_memory());
    profiler::pytorch::take_cpu_memory_peak();
  }

  torch::Tensor forward() {
    const tensor::AutocastScope autocast(at::kCPU, tensor::compute_type(job_.settings.precision));
    model::TokenBatch batch;
    batch.inputs = tokens_.narrow(1, 0, 128);
    batch.targets = trace::job::is_encoder(job_.shape.layout) ? tokens_.select(1, 0).remainder(3)
                                                              : tokens_.narrow(1, 1, 128);
    batch.counted_targets = batch.targets.numel();
    const auto divisor = static_cast<double>(batch.counted_targets);
    const auto chunk = trace::job::loss_chunk_tokens(job_.settings, job_.shape, job_.tokens());
    if (chunk == 0) return model_->loss(batch, divisor);
    return model_->loss(batch, divisor, model::ChunkedLossOptions{chunk, {}});
  }

  trace::predict::PlannedJob job_;
  std::shared_ptr<model::Model> model_;
  torch::Tensor tokens_;
  std::int64_t before_ = 0;
};

class SavedMemory : public MemoryPrediction {};

constexpr std::int64_t kGeneratorStateBytes = 5056;  // of at::CPUGeneratorImpl
constexpr double kIndexBytes = 32 << 10;             // of tokens and positions, rotary tables

// What dropout keeps of embeddings is within what is allowed.
TEST_P(SavedMemory, IsWhatForwardKeeps) {
  const torch::Tensor loss = forward();
  const std::int64_t saved = tensors_of(profiler::pytorch::sample_cpu_memory()) - before_;
  std::int64_t predicted = trace::predict::head_memory(job_).layer.saved_bytes();
  const bool is_adapted = job_.settings.lora_rank > 0;
  predicted -= GetParam().recompute > 0 ? 0 : trace::predict::spared_by_first_block(job_);
  if (trace::job::is_encoder(job_.shape.layout) && !is_adapted) {
    predicted += trace::predict::encoder_embeddings_memory(trace::predict::layer_sizes(job_));
  }
  for (std::int64_t i = 0; i < job_.shape.layers; ++i) {
    const trace::predict::LayerMemory block =
        trace::predict::block_memory(job_, is_adapted || i < job_.settings.frozen_blocks);
    const bool recomputes = GetParam().recompute > 0 && i % GetParam().recompute == 0;
    predicted += recomputes ? block.input_bytes + kGeneratorStateBytes : block.saved_bytes();
  }
  const double share = GetParam().dropout > 0 ? 0.02 : 0.005;
  EXPECT_NEAR(static_cast<double>(predicted), static_cast<double>(saved),
              std::max(kIndexBytes, share * static_cast<double>(saved)));
}

TEST_P(MemoryPrediction, KnowsThePeakOfForwardAndBackward) {
  forward().backward();
  const std::int64_t peak = tensors_of(profiler::pytorch::take_cpu_memory_peak()) - before_;
  const trace::predict::MemoryPrediction prediction = trace::predict::predict_memory(job_);
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
  for (const tensor::NamedTensor& each : tensor::named_parameters_of(*model_)) {
    kept += static_cast<std::int64_t>(each.tensor.nbytes());
  }
  const trace::predict::MemoryPrediction prediction = trace::predict::predict_memory(job_);
  EXPECT_EQ(prediction.at_peak[static_cast<std::size_t>(MemoryCategory::kParameters)], kept);
}

class TrainedParameters : public MemoryPrediction {
 protected:
  std::vector<tensor::NamedTensor> trained() const {
    auto all = tensor::without_duplicates(tensor::named_parameters_of(*model_));
    std::erase_if(all, [](const auto& each) { return !each.tensor.requires_grad(); });
    return all;
  }
};

TEST_P(TrainedParameters, HaveThePredictedSizesInRegistrationOrder) {
  std::vector<std::int64_t> values;
  for (const tensor::NamedTensor& each : trained()) values.push_back(each.tensor.numel());
  EXPECT_EQ(trace::predict::model_sizes(job_.shape, job_.settings).trained(), values);
}

TEST_P(TrainedParameters, GetTheirGradientsInThePredictedOrder) {
  std::vector<std::pair<std::string, std::int64_t>> came, predicted;
  for (const tensor::NamedTensor& each : trained()) {
    const std::pair item{each.name, 4 * each.tensor.numel()};
    each.tensor.register_hook([&came, item](const torch::Tensor&) { came.push_back(item); });
  }
  forward().backward();
  for (const auto& each : trace::tuning::gradients_backwards(job_)) {
    predicted.emplace_back(each.parameter, each.bytes);
  }
  EXPECT_EQ(predicted, came);
}

std::string name_of(const testing::TestParamInfo<MemoryCase>& tried) { return tried.param.name; }

INSTANTIATE_TEST_SUITE_P(AdaptersRecomputed, MemoryPrediction,
                         testing::ValuesIn(recomputed_adapter_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(AdaptersRecomputed, SavedMemory,
                         testing::ValuesIn(recomputed_adapter_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(AdaptersWide, MemoryPrediction, testing::ValuesIn(wide_adapter_cases()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Frozen, MemoryPrediction, testing::ValuesIn(frozen_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Frozen, SavedMemory, testing::ValuesIn(frozen_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Frozen, KeptMemory, testing::ValuesIn(frozen_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, KeptMemory, testing::ValuesIn(adapter_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, MemoryPrediction, testing::ValuesIn(adapter_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, SavedMemory, testing::ValuesIn(adapter_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, TrainedParameters, testing::ValuesIn(adapter_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Frozen, TrainedParameters, testing::ValuesIn(frozen_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Models, TrainedParameters, testing::ValuesIn(model_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Models, MemoryPrediction, testing::ValuesIn(model_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Models, SavedMemory, testing::ValuesIn(model_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(ModelsIn16Bits, SavedMemory, testing::ValuesIn(model_in_16_bits_cases()),
                         name_of);

}  // namespace
}  // namespace shardlens::trainer
