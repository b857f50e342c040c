// What the recorder measured in runs of the trainer, of its allocator on a CPU, of CUDA's on a GPU:
// the composition at the highest peak of any rank and step, against the prediction.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "tests/trace/predict/predicted_jobs.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/events.h"
#include "trace/predict/memory/memory_model.h"

namespace shardlens::trace::predict {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::size_t kCompared = 7;  // all categories but `outside`

struct Measured {
  const char* settings;
  int ranks;
  std::array<std::int64_t, kCompared> at_peak;  // in the order of MemoryCategory
  const char* gpu = nullptr;                    // none: on the CPU
};

// clang-format off
constexpr Measured kMeasured[] = {
    {"model=tiny", 2, {9537792, 0, 0, 19075840, 68633608, 9537792, 16388}},
    {"model=tiny gradient_as_bucket_view=true", 2, {9537792, 0, 9537792, 19075840, 68633608, 0, 16388}},
    {"model=tiny sharding_strategy=zero1", 2, {9537792, 0, 0, 9538768, 68633608, 9537792, 16388}},
    {"model=tiny sharding_strategy=no_shard", 2, {9537792, 0, 0, 19075840, 68633608, 0, 16388}},
    {"model=tiny sharding_strategy=shard_grad_op", 2, {4768896, 9537792, 0, 9537980, 68633608, 0, 16388}},
    {"model=tiny sharding_strategy=full_shard", 2, {4768896, 4199424, 1536, 9537980, 67888904, 0, 16388}},
    {"model=tiny precision=bf16", 2, {9537792, 0, 0, 19075840, 45261832, 9537792, 16388}},
    {"model=tiny batch_per_rank=1", 2, {9537792, 0, 7119360, 19075840, 2906888, 9537792, 1036}},
    {"model=tiny dropout=0.1", 2, {9537792, 0, 0, 19075840, 124347400, 9537792, 16388}},
    {"model=tiny activation_checkpointing=1", 2, {9537792, 0, 7119360, 19075840, 18205128, 9537792, 16388}},
    {"model=tiny activation_checkpointing=2", 2, {9537792, 0, 1536, 19075840, 45015624, 9537792, 16388}},
    {"model=tiny batch_per_rank=1 sharding_strategy=zero1", 2, {9537792, 0, 7119360, 9538768, 2906888, 9537792, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=no_shard", 2, {9537792, 0, 10678284, 19075840, 345096, 0, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=shard_grad_op", 2, {4768896, 9537792, 1536, 9537980, 9218824, 0, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard", 2, {4768896, 4199424, 891264, 9537980, 7640840, 1779456, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard activation_checkpointing=1", 2, {4768896, 4199424, 2670720, 9537980, 3128776, 1779456, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard gradient_accumulation_steps=2", 2, {4768896, 4199424, 9537792, 9537980, 9218824, 0, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=shard_grad_op gradient_accumulation_steps=2", 2, {4768896, 9537792, 9537792, 9537980, 9218824, 0, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard param_dtype=bf16", 2, {4768896, 2544576, 2225088, 9537980, 2394248, 889728, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=no_shard param_dtype=bf16", 2, {9537792, 0, 10107264, 19075840, 4, 0, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard cpu_offload=true", 2, {4768896, 4199424, 891264, 9537980, 7640840, 1779456, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard precision=bf16", 2, {4768896, 4199424, 891264, 9537980, 8132744, 1779456, 1036}},
    {"model=tiny batch_per_rank=1 communication_hook=bf16_compress", 2, {9537792, 0, 9537792, 19075840, 8, 13714186, 1036}},
    {"model=tiny batch_per_rank=1 gradient_accumulation_steps=2", 2, {9537792, 0, 9537792, 19075840, 9218824, 9537792, 1036}},
    {"model=tiny batch_per_rank=1 frozen_blocks=2", 2, {9537792, 0, 5339904, 11957920, 3107848, 5978880, 1036}},
    {"model=tiny batch_per_rank=1 frozen_blocks=2 sharding_strategy=full_shard", 2, {4768896, 4199424, 891264, 5978996, 6461192, 1779456, 1036}},
    {"model=tiny batch_per_rank=1 optimizer=sgd", 2, {9537792, 0, 7119360, 0, 2906888, 9537792, 1036}},
    {"model=tiny batch_per_rank=1 find_unused_parameters=true", 2, {9537792, 0, 7119360, 19075840, 2906888, 9538304, 1036}},
    {"model=small batch_per_rank=2", 2, {103632896, 0, 97724416, 207266192, 7480328, 103632896, 4100}},
    {"model=small batch_per_rank=2 sharding_strategy=full_shard", 2, {51816448, 27975680, 15762432, 103633192, 57885704, 12609536, 4100}},
    {"model=small batch_per_rank=2 sharding_strategy=full_shard precision=bf16 activation_checkpointing=1", 2, {51816448, 27975680, 47292416, 103633192, 8563208, 12609536, 4100}},
    {"model=tiny batch_per_rank=2 shard_group_size=2 sharding_strategy=hybrid_shard", 4, {4768896, 4199424, 1536, 9537980, 17600264, 0, 4100}},
    {"model=tiny batch_per_rank=2 shard_group_size=2 sharding_strategy=hybrid_shard_zero2", 4, {4768896, 9537792, 1536, 9537980, 17600264, 0, 4100}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard separate_communicators=true", 2, {4768896, 4199424, 891264, 9537980, 7640840, 1779456, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard backward_prefetch=none", 2, {4768896, 2419968, 891264, 9537980, 7640840, 1779456, 1036}},
    {"model=tiny batch_per_rank=1 sharding_strategy=full_shard wrap_policy=whole_model", 2, {4768896, 9537792, 7119360, 9537928, 2906888, 0, 1036}},
    {"model=gpt2 batch_per_rank=1 sharding_strategy=full_shard", 2, {248879616, 157541376, 170115072, 497759668, 463562760, 28351488, 1036}},
    {"model=gpt2 batch_per_rank=1", 2, {497759232, 0, 340224000, 995519056, 463562760, 497759232, 1036}},
    {"model=tiny batch_per_rank=1 wrap_policy=size sharding_strategy=shard_grad_op min_num_params=100000", 2, {4768896, 9537792, 1536, 9538012, 9218824, 0, 1036}},
    {"model=tiny batch_per_rank=1 wrap_policy=size sharding_strategy=full_shard", 2, {4768896, 9537792, 7119360, 9537928, 2906888, 0, 1036}},
    {"model=tiny batch_per_rank=1 gradient_as_bucket_view=true gradient_accumulation_steps=3", 2, {9537792, 0, 9537792, 19075840, 9218824, 0, 2052}},
    {"model=tiny batch_per_rank=1 sequence_length=64 precision=bf16 activation_checkpointing=1 loss_chunk_tokens=48 optimizer=sgd lora_rank=4 lora_target_modules=all-linear base_dtype=fp32", 3, {9783552, 0, 15360, 0, 1833160, 246080, 1028}},
    // The loss by chunks.
    {"model=tiny loss_chunk_tokens=128", 2, {9537792, 0, 1536, 19075840, 67888904, 9537792, 16388}},
    {"model=tiny loss_chunk_tokens=1024", 2, {9537792, 0, 0, 19075840, 68134924, 9537792, 16388}},
    {"model=tiny precision=bf16 loss_chunk_tokens=256", 2, {9537792, 0, 1536, 19075840, 43853960, 9537792, 16388}},
    {"model=tiny batch_per_rank=4 loss_chunk_tokens=128 sharding_strategy=full_shard param_dtype=bf16", 2, {4768896, 2544576, 768, 9537980, 17623176, 0, 8452}},
    {"model=small batch_per_rank=2 sharding_strategy=full_shard loss_chunk_tokens=64", 2, {51816448, 27975680, 15762432, 103633192, 57885704, 12609536, 4500}},
    {"model=gpt2 batch_per_rank=2 sharding_strategy=full_shard", 2, {248879616, 157541376, 170115072, 497759668, 309959688, 28351488, 4692}},
    // On an H200 that the ranks share.
    {"model=tiny", 4, {9537792, 0, 1536, 19075840, 137619216, 9537792, 16388}, "NVIDIA H200"},
    {"model=gpt-162m sequence_length=1024 precision=bf16", 2, {652437504, 0, 0, 1304875604, 4303243460, 652437504, 131076}, "NVIDIA H200"},
    {"model=gpt-162m sequence_length=1024 precision=bf16 sharding_strategy=full_shard", 2, {326218752, 312219648, 0, 652437944, 4303243460, 0, 131672}, "NVIDIA H200"},
};
// clang-format on

PlannedJob measured_job(const Measured& measured) {
  std::vector<std::string> assignments;
  std::istringstream words(measured.settings);
  for (std::string word; words >> word;) assignments.push_back(word);
  if (measured.gpu == nullptr) return job_of(assignments, measured.ranks);
  PlannedJob job = gpu_job_of(assignments, measured.ranks, measured.ranks);
  job.workspace_bytes = cublas_workspace_bytes(measured.gpu);
  return job;
}

std::int64_t allowed_for(std::int64_t bytes) { return std::max(kMiB, bytes / 20); }

TEST(MeasuredMemory, IsWithin5PercentOr1MiBOfThePredictionInTotal) {
  for (const Measured& measured : kMeasured) {
    std::int64_t total = 0;
    for (const std::int64_t bytes : measured.at_peak) total += bytes;
    const std::int64_t predicted = predict_memory(measured_job(measured)).total();
    EXPECT_LE(std::abs(predicted - total), allowed_for(total))
        << measured.settings << ": predicted " << predicted << ", measured " << total;
  }
}

// How many reductions of units are under way when memory is highest depends on the machine's speed;
// everything else is decided by the settings.
TEST(MeasuredMemory, IsWithin5PercentOr1MiBOfThePredictionInEveryCategoryWhereNothingIsTimed) {
  int compared = 0;
  for (const Measured& measured : kMeasured) {
    const PlannedJob job = measured_job(measured);
    if (job::strategy_traits(job.settings.sharding_strategy).shards_parameters) continue;
    ++compared;
    const MemoryPrediction prediction = predict_memory(job);
    for (std::size_t i = 0; i < kCompared; ++i) {
      EXPECT_LE(std::abs(prediction.at_peak[i] - measured.at_peak[i]),
                allowed_for(measured.at_peak[i]))
          << measured.settings << ": " << model::to_string(static_cast<model::MemoryCategory>(i))
          << " predicted " << prediction.at_peak[i] << ", measured " << measured.at_peak[i]
          << ", peak in " << prediction.peak_place;
    }
  }
  EXPECT_GT(compared, 10);
}

TEST(MeasuredMemory, IsNeverMoreThanTheHighestPredictedOfACategory) {
  for (const Measured& measured : kMeasured) {
    const MemoryPrediction prediction = predict_memory(measured_job(measured));
    for (std::size_t i = 0; i < kCompared; ++i) {
      EXPECT_LE(measured.at_peak[i],
                prediction.category_peaks[i] + allowed_for(measured.at_peak[i]))
          << measured.settings << ": " << model::to_string(static_cast<model::MemoryCategory>(i));
    }
    const auto parameters = static_cast<std::size_t>(model::MemoryCategory::kParameters);
    EXPECT_EQ(measured.at_peak[parameters], prediction.at_peak[parameters]) << measured.settings;
  }
}

}  // namespace
}  // namespace shardlens::trace::predict
