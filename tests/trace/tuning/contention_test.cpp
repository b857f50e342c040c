#include "trace/tuning/contention.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace shardlens::trace::tuning {
namespace {

constexpr std::size_t kBlocks = 6;

const std::vector<std::string> kNames = [] {
  std::vector<std::string> names{"head.weight"};
  for (std::size_t block = kBlocks; block-- > 0;) {
    names.push_back("h." + std::to_string(block) + ".mlp.weight");
    names.push_back("h." + std::to_string(block) + ".attn.weight");
  }
  return names;
}();

// Blocks compute 10 and 20 ms up to their gradients, longer by `slowdown` of what communication
// worked beside them, which is another part each time; `noise` in parts of it all.
std::vector<predict::StepWork> made_steps(double slowdown, double noise, bool varies = true) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> beside(0, 5e6);
  std::normal_distribution<double> off(0, noise);
  std::vector<predict::StepWork> steps;
  for (std::int64_t index = 0; index < 20; ++index) {
    predict::MicroBatchWork work;
    double computed = 0, contended = 0;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const double alone = (i % 2 == 0 ? 20e6 : 10e6) * (1 + off(random));
      const double worked = varies ? beside(random) : 2e6;
      computed += alone + slowdown * worked;
      contended += worked;
      work.gradients.push_back(
          {static_cast<std::int64_t>(computed), static_cast<std::int64_t>(contended)});
    }
    steps.push_back({.index = index, .ranks = {{.micro_batches = {work}}}});
  }
  return steps;
}

TEST(Contention, IsToldByBlocksThatAreAlike) {
  for (const double slowdown : {0.0, 0.3, 0.8}) {
    const Slowdown told = fit_slowdown(made_steps(slowdown, 0.01), kNames, kOfCores);
    EXPECT_NEAR(told.mean, slowdown, 0.1) << slowdown;
    EXPECT_LE(told.low, slowdown + 0.02) << slowdown;
    EXPECT_GE(told.high, slowdown - 0.02) << slowdown;
    EXPECT_LT(told.range(), 0.3) << slowdown;
  }
}

TEST(Contention, IsHardlyToldWhereNoiseIsLarge) {
  const Slowdown told = fit_slowdown(made_steps(0.8, 0.5), kNames, kOfCores);
  EXPECT_GT(told.range(), 0.3);
}

TEST(Contention, IsAsExpectedWhereNothingVariesOrTooFewStepsAreThere) {
  const auto is_expected = [](const Slowdown& told) {
    return told.low == kOfMultiprocessors.low && told.high == kOfMultiprocessors.high;
  };
  EXPECT_TRUE(is_expected(fit_slowdown(made_steps(0.8, 0, false), kNames, kOfMultiprocessors)));
  EXPECT_TRUE(is_expected(fit_slowdown({}, kNames, kOfMultiprocessors)));
  auto few = made_steps(0.8, 0.01);
  few.resize(3);
  EXPECT_TRUE(is_expected(fit_slowdown(few, kNames, kOfMultiprocessors)));
}

}  // namespace
}  // namespace shardlens::trace::tuning
