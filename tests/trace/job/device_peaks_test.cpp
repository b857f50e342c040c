#include "trace/job/device_peaks.h"

#include <gtest/gtest.h>

#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {
namespace {

std::string_view row_of(std::string_view device_name) {
  const DevicePeak* peak = find_device_peak(device_name);
  return peak == nullptr ? "" : peak->name;
}

// Names as the driver reports them.
TEST(DevicePeaks, KnowsTheNamesOfDrivers) {
  EXPECT_EQ(row_of("Tesla V100-SXM2-16GB"), "V100 SXM2");
  EXPECT_EQ(row_of("Tesla V100-PCIE-32GB"), "V100 PCIE");
  EXPECT_EQ(row_of("Tesla T4"), "T4");
  EXPECT_EQ(row_of("NVIDIA A100-SXM4-40GB"), "A100 SXM4");
  EXPECT_EQ(row_of("NVIDIA A100 80GB PCIe"), "A100 PCIE");
  EXPECT_EQ(row_of("NVIDIA A10"), "A10");
  EXPECT_EQ(row_of("NVIDIA L4"), "L4");
  EXPECT_EQ(row_of("NVIDIA L40S"), "L40S");
  EXPECT_EQ(row_of("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(row_of("NVIDIA H100 PCIe"), "H100 PCIe");
  EXPECT_EQ(row_of("NVIDIA H100 NVL"), "H100 NVL");
  EXPECT_EQ(row_of("NVIDIA H200"), "H200");
  EXPECT_EQ(row_of("NVIDIA GH200 480GB"), "GH200");
  EXPECT_EQ(row_of("NVIDIA B200"), "B200");
  EXPECT_EQ(row_of("NVIDIA GB200"), "GB200");
  EXPECT_EQ(row_of("NVIDIA GeForce RTX 3090 Ti"), "RTX 3090 Ti");
  EXPECT_EQ(row_of("NVIDIA GeForce RTX 4090"), "RTX 4090");
}

TEST(DevicePeaks, TakesNoDeviceForAnotherWithALikeName) {
  for (const char* other :
       {"NVIDIA A10G", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA H20", "Intel Xeon", ""}) {
    EXPECT_EQ(row_of(other), "") << other;
  }
}

TEST(DevicePeaks, GrowWithFewerBitsAndNameTheirSource) {
  for (const DevicePeak& peak : device_peaks()) {
    EXPECT_FALSE(peak.source.empty()) << peak.name;
    EXPECT_GT(peak.fp32, 0) << peak.name;
    EXPECT_GT(peak.fp16, peak.fp32) << peak.name;
    EXPECT_TRUE(peak.bf16 == 0 || peak.bf16 == peak.fp16) << peak.name;
    EXPECT_TRUE(peak.tf32 == 0 || (peak.tf32 < peak.fp16 && peak.tf32 >= peak.fp32)) << peak.name;
  }
}

TEST(DevicePeaks, ChooseByTheTypeThatMatricesAreMultipliedIn) {
  Settings settings;
  const char* h100 = "NVIDIA H100 80GB HBM3";
  EXPECT_DOUBLE_EQ(peak_flops(settings, h100, false).per_second, 67e12);
  EXPECT_DOUBLE_EQ(peak_flops(settings, h100, true).per_second, 494.7e12);
  settings.precision = Precision::kBf16;
  const PeakFlops bf16 = peak_flops(settings, h100, false);
  EXPECT_DOUBLE_EQ(bf16.per_second, 989.4e12);
  EXPECT_EQ(bf16.origin, "dense bf16, NVIDIA H100 datasheet, halved for sparsity");
  EXPECT_EQ(peak_flops(settings, "Tesla V100-SXM2-16GB", false).per_second, 0) << "has no bf16";
  settings.precision = Precision::kFp32;
  settings.sharding_strategy = Strategy::kFullShard;
  settings.param_dtype = DataType::kBf16;
  EXPECT_DOUBLE_EQ(peak_flops(settings, h100, false).per_second, 989.4e12);
}

TEST(DevicePeaks, GiveWayToTheKnob) {
  Settings settings;
  EXPECT_EQ(peak_flops(settings, "Some CPU", false).per_second, 0);
  ASSERT_TRUE(set_value(settings, "peak_tflops", "1.5"));
  EXPECT_DOUBLE_EQ(peak_flops(settings, "Some CPU", false).per_second, 1.5e12);
  EXPECT_EQ(peak_flops(settings, "NVIDIA H200", false).origin, "peak_tflops");
}

TEST(FlopsPerToken, CountFrozenWeightsFourTimes) {
  const ModelShape shape = *find_model_preset("gpt-162m");
  const std::int64_t block = 12 * 768 * 768 + 13 * 768;
  EXPECT_EQ(parameter_count(shape), 12 * block + (2 * 50304 + 1024) * 768 + 2 * 768);
  const std::int64_t read_by_row = std::int64_t{50304 + 1024} * 768;  // the head is apart
  EXPECT_EQ(flops_per_token(shape, 1024),
            6 * (parameter_count(shape) - read_by_row) + std::int64_t{12} * 12 * 768 * 1024);
  EXPECT_EQ(flops_per_token(shape, 1024) - flops_per_token(shape, 1024, 5), 2 * 5 * block);
  EXPECT_EQ(flops_per_token(shape, 1024, 12), flops_per_token(shape, 1024, 99));
}

// From the products themselves: forward multiplies and adds once per weight, backward twice.
TEST(FlopsPerToken, AreThoseOfEveryMatrixProductOfLlama3Of8BillionParameters) {
  constexpr std::int64_t kWidth = 4096, kMlp = 14336, kKeys = 1024, kVocabulary = 128256;
  constexpr std::int64_t kTokens = 8192, kBlocks = 32;
  const std::int64_t projections = 2 * kWidth * kWidth + 2 * kWidth * kKeys;  // q, o; k, v
  const std::int64_t block = projections + 3 * kWidth * kMlp;
  const std::int64_t attention = 2 * kWidth * kTokens;  // queries by keys, weights by values
  const std::int64_t multiplied = kBlocks * (block + attention) + kWidth * kVocabulary;
  const std::int64_t norms = (2 * kBlocks + 1) * kWidth;  // counted as weights; 0.003 %
  const ModelShape shape = *find_planning_model("llama-8b");
  EXPECT_EQ(flops_per_token(shape, kTokens), 3 * 2 * (multiplied + norms));
}

TEST(FlopsPerToken, CountAnEmbeddingWhereItIsTheOutputMatrixToo) {
  ModelShape shape = *find_planning_model("llama-8b");
  const std::int64_t untied = flops_per_token(shape, 1024);
  shape.tied_head = true;
  EXPECT_EQ(flops_per_token(shape, 1024), untied);
}

}  // namespace
}  // namespace shardlens::trace::job
