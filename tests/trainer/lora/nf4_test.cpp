#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "trace/job/shape/lora.h"
#include "trainer/tensor/kept_matrix.h"

namespace shardlens::trainer::lora {
namespace {

using trace::job::kNf4BlockBytes;
using trace::job::kNf4BlockValues;

// The levels as the paper prints them, appendix E.
constexpr std::array<double, 16> kPrinted{-1.0,
                                          -0.6961928009986877,
                                          -0.5250730514526367,
                                          -0.39491748809814453,
                                          -0.28444138169288635,
                                          -0.18477343022823334,
                                          -0.09105003625154495,
                                          0.0,
                                          0.07958029955625534,
                                          0.16093020141124725,
                                          0.24611230194568634,
                                          0.33791524171829224,
                                          0.44070982933044434,
                                          0.5626170039176941,
                                          0.7229568362236023,
                                          1.0};

torch::Tensor random_values(std::int64_t count) {
  torch::manual_seed(3);
  return torch::randn({count}) * torch::linspace(0.01, 3, count);
}

// The published algorithm, value by value, without tensors.
std::vector<float> by_definition(const torch::Tensor& values) {
  const torch::Tensor flat = values.flatten().contiguous();
  const float* value = flat.const_data_ptr<float>();
  std::vector<float> result;
  for (std::int64_t begin = 0; begin < flat.numel(); begin += kNf4BlockValues) {
    const std::int64_t end = std::min(begin + kNf4BlockValues, flat.numel());
    float scale = 0;
    for (std::int64_t i = begin; i < end; ++i) scale = std::max(scale, std::abs(value[i]));
    for (std::int64_t i = begin; i < end; ++i) {
      const float share = scale == 0 ? 0 : value[i] / scale;
      std::size_t best = 0;
      for (std::size_t level = 1; level < kPrinted.size(); ++level) {
        if (std::abs(share - kPrinted[level]) < std::abs(share - kPrinted[best])) best = level;
      }
      result.push_back(static_cast<float>(kPrinted[best]) * scale);
    }
  }
  return result;
}

TEST(Nf4, IsTheNearestLevelTimesTheBlocksLargestValue) {
  for (const std::int64_t count : {1, 63, 64, 65, 128, 10000}) {
    const auto values = random_values(count);
    const auto bytes = tensor::quantize_nf4(values);
    EXPECT_EQ(bytes.numel(), trace::job::nf4_bytes(count)) << count;
    const auto back = tensor::dequantize_nf4(bytes, count, torch::kFloat32);
    const auto expected = by_definition(values);
    ASSERT_EQ(back.numel(), count);
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(back[i].item<float>(), expected[static_cast<std::size_t>(i)])
          << i << " of " << count;
    }
  }
}

TEST(Nf4, BlocksOfZerosAreZeros) {
  const auto values = torch::zeros({130});
  EXPECT_TRUE(torch::equal(
      tensor::dequantize_nf4(tensor::quantize_nf4(values), 130, torch::kFloat32), values));
}

TEST(Nf4, PutsTheFirstOfTwoValuesInTheHigherHalfAfterTheScale) {
  auto values = torch::zeros({64});
  values[0] = 2.0;   // level 15
  values[1] = -2.0;  // level 0
  const auto bytes = tensor::quantize_nf4(values);
  float scale = 0;
  std::memcpy(&scale, bytes.const_data_ptr<std::uint8_t>(), sizeof scale);
  EXPECT_EQ(scale, 2.0f);
  EXPECT_EQ(bytes[4].item<int>(), 0xF0);
  EXPECT_EQ(bytes[5].item<int>(), 0x77) << "level 7 is 0";
}

TEST(Nf4, AnyRangeOfBlocksStandsAlone) {
  const auto values = random_values(640);
  const auto whole = tensor::quantize_nf4(values);
  const auto part =
      tensor::quantize_nf4(values.narrow(0, 3 * kNf4BlockValues, 2 * kNf4BlockValues));
  EXPECT_TRUE(torch::equal(whole.narrow(0, 3 * kNf4BlockBytes, 2 * kNf4BlockBytes), part));
}

TEST(Nf4, LosesNothingWhenItIsDoneTwice) {
  const auto bytes = tensor::quantize_nf4(random_values(1000));
  EXPECT_TRUE(torch::equal(
      tensor::quantize_nf4(tensor::dequantize_nf4(bytes, 1000, torch::kFloat32)), bytes));
}

TEST(KeptMatrix, MultipliesAndDifferentiatesAsItsExpandedCopy) {
  torch::manual_seed(5);
  for (const bool transposed : {false, true}) {
    const std::vector<std::int64_t> sizes =
        transposed ? std::vector<std::int64_t>{20, 13} : std::vector<std::int64_t>{13, 20};
    const auto matrix = torch::randn(sizes);
    for (const auto& kept : {tensor::quantize_nf4(matrix), matrix.to(torch::kBFloat16)}) {
      const auto expanded = tensor::expand_matrix(kept, sizes, torch::kFloat32);
      EXPECT_LT((expanded - matrix).abs().max().item<double>(), 0.5);
      auto x = torch::randn({2, 7, 20}).set_requires_grad(true);
      auto same = x.detach().clone().set_requires_grad(true);
      const auto product = tensor::kept_matrix_product(x, kept, sizes, transposed);
      const auto expected = at::matmul(same, transposed ? expanded : expanded.t());
      EXPECT_TRUE(torch::allclose(product, expected, 1e-5, 1e-6));
      const auto direction = torch::randn_like(expected);
      product.backward(direction);
      expected.backward(direction);
      EXPECT_TRUE(torch::allclose(x.grad(), same.grad(), 1e-5, 1e-6));
    }
  }
}

}  // namespace
}  // namespace shardlens::trainer::lora
