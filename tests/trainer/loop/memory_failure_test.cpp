#include "trainer/loop/memory_failure.h"

#include <c10/core/AllocatorConfig.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "trace/predict/memory/memory_model.h"

namespace shardlens::trainer::loop {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr std::int64_t kMiB = 1 << 20;

trace::predict::PlannedJob job_of(trace::job::Strategy strategy) {
  trace::job::Settings settings;
  settings.sharding_strategy = strategy;
  return trace::predict::job_on_this_machine(settings, *trace::job::find_model_preset("tiny"));
}

FailedAllocation failed_with(std::int64_t activations) {
  FailedAllocation failed;
  failed.asked_bytes = 3 * kMiB;
  failed.held.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kParameters)] = 9 * kMiB;
  failed.held.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kActivations)] =
      activations;
  failed.held.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kOutside)] = 300 * kMiB;
  return failed;
}

TEST(OutOfMemory, SaysWhatWasAskedForAndHeldAndWhatIsEstimatedToFit) {
  const auto text =
      explain_out_of_memory(failed_with(71 * kMiB), job_of(trace::job::Strategy::kDdp), "");
  EXPECT_THAT(text, HasSubstr("asked for 3.00 MiB beside 80.0 MiB (parameters 9.00 MiB, "
                              "activations 71.0 MiB). Estimated to fit into 80.0 MiB: "));
  EXPECT_THAT(text, HasSubstr("activation_checkpointing="));
  EXPECT_THAT(text, HasSubstr("(peak "));
  EXPECT_THAT(text, Not(HasSubstr("300"))) << "what PyTorch did not allocate it cannot give back";
}

TEST(OutOfMemory, NamesTheUnitAndSaysWhenNothingWouldFit) {
  const auto text =
      explain_out_of_memory(failed_with(0), job_of(trace::job::Strategy::kFullShard), "blocks.3");
  EXPECT_THAT(text, HasSubstr("out of memory in blocks.3: "));
  EXPECT_THAT(text, HasSubstr("No change"));
}

TEST(OutOfMemory, OfAJobThatIsEstimatedToFitNamesWhatNeedsLessTheLeastFirst) {
  const auto job = job_of(trace::job::Strategy::kDdp);
  const std::int64_t peak = trace::predict::predict_peak_bytes(job);
  const auto text = explain_out_of_memory(failed_with(peak), job, "");
  EXPECT_THAT(text, MatchesRegex(".* The job is estimated to need .* MiB, which fits into .* MiB. "
                                 "Estimated to need less: .* \\(peak .*"));
  EXPECT_THAT(text, Not(HasSubstr("No change")));
  std::vector<double> peaks;
  for (auto at = text.find("(peak "); at != std::string::npos; at = text.find("(peak ", at + 1)) {
    peaks.push_back(std::stod(text.substr(at + 6)));
  }
  ASSERT_GT(peaks.size(), 1u) << text;
  EXPECT_TRUE(std::ranges::is_sorted(peaks)) << text;
  EXPECT_LT(peaks.back() * static_cast<double>(kMiB), static_cast<double>(peak)) << text;
}

TEST(OutOfMemory, EstimatesNothingWhereSomeBlocksAloneHaveAdapters) {
  auto job = job_of(trace::job::Strategy::kDdp);
  job.settings.lora_rank = 4;
  job.settings.lora_target_modules = "h.0.mlp.c_fc";
  EXPECT_THAT(explain_out_of_memory(failed_with(71 * kMiB), job, ""),
              HasSubstr("activations 71.0 MiB). What would need less is not estimated"));
}

TEST(OutOfMemory, SaysWhenEnoughWasReservedButInPieces) {
  auto failed = failed_with(71 * kMiB);
  EXPECT_THAT(explain_out_of_memory(failed, job_of(trace::job::Strategy::kDdp), ""),
              Not(HasSubstr("in pieces")));
  failed.held.reserved_bytes = 82 * kMiB;
  EXPECT_THAT(explain_out_of_memory(failed, job_of(trace::job::Strategy::kDdp), ""),
              Not(HasSubstr("in pieces")))
      << "3 MiB were asked for";
  failed.held.reserved_bytes = 95 * kMiB;
  EXPECT_THAT(explain_out_of_memory(failed, job_of(trace::job::Strategy::kDdp), ""),
              HasSubstr("; 15.0 MiB more are reserved but in pieces: allocator_conf="));
  auto& allocator = c10::CachingAllocator::AcceleratorAllocatorConfig::instance();
  allocator.parseArgs("expandable_segments:True");
  EXPECT_THAT(explain_out_of_memory(failed, job_of(trace::job::Strategy::kDdp), ""),
              HasSubstr("; 15.0 MiB more are reserved but in pieces. "))
      << "what is set joins no more";
  allocator.parseArgs("expandable_segments:False");
}

TEST(OutOfMemory, ReadsTheSizeFromTheWordsOfCudasAllocator) {
  EXPECT_EQ(asked_bytes("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has"), 20 * kMiB);
  EXPECT_EQ(asked_bytes("CUDA out of memory. Tried to allocate 1.50 GiB. GPU"), 1536 * kMiB);
  EXPECT_EQ(asked_bytes("you tried to allocate 4096 bytes. Error code 12"), 4096);
  EXPECT_EQ(asked_bytes("something else"), 0);
}

TEST(OutOfMemory, TheCpusAllocatorRemembersWhatItRefused) {
  ASSERT_TRUE(profiler::pytorch::install_cpu_memory_tracker());
  const profiler::memory::MemoryCategoryScope category(trace::model::MemoryCategory::kGradients);
  const auto kept = torch::zeros({1 << 20});
  EXPECT_ANY_THROW(torch::empty({std::int64_t{1} << 50}, torch::kUInt8));
  const auto failed = failed_allocation(torch::kCPU, "");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->asked_bytes, std::int64_t{1} << 50);
  EXPECT_GE(failed->held.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kGradients)],
            4 * kMiB);
}

}  // namespace
}  // namespace shardlens::trainer::loop
