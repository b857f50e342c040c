#include "profiler/inject/steps/kernel_steps.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/profiler/inject/told_steps.h"

namespace shardlens::profiler::inject {
namespace {

constexpr std::pair<const char*, KernelPart> kParts[] = {
    {"at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor>", KernelPart::kOther},
    {"ampere_bf16_s16816gemm_bf16_128x256", KernelPart::kProduct},
    {"flash::flash_bwd_dq_dk_dv_loop_kernel", KernelPart::kBackward},
    {"at::native::cunn_SoftMaxBackwardSmem<8>", KernelPart::kBackward},
    {"at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>", KernelPart::kOptimizer},
    // FSDP copies with the same kernel.
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<2>, "
     "UnaryOpFunctor<float, 2, 1, 1>, at::native::Copy<float, float> >",
     KernelPart::kOther},
};

TEST(KernelPart, IsToldByTheName) {
  for (const auto& [name, part] : kParts) EXPECT_EQ(kernel_part_of(name), part) << name;
}

class KernelStepsTest : public testing::Test {
 protected:
  // Each kernel takes 8 of 10.
  void run(KernelPart part, int count) {
    for (int i = 0; i < count; ++i) {
      steps_.add(part, time_, time_ + 8);
      time_ += 10;
    }
  }
  void step(int micro_batches = 1) {
    for (int i = 0; i < micro_batches; ++i) {
      run(KernelPart::kOther, 12);
      run(KernelPart::kBackward, 1);
      run(KernelPart::kOther, 7);
    }
    run(KernelPart::kOptimizer, 2);
    run(KernelPart::kOther, 3);  // the norm, say
    run(KernelPart::kOptimizer, 1);
  }

  test::ToldSteps told_;
  KernelSteps steps_{told_};
  std::int64_t time_ = 0;
};

TEST_F(KernelStepsTest, AStepEndsWithItsOptimizersLastKernel) {
  for (int i = 0; i < 4; ++i) step();
  // The first is only known to have been a step when it has ended, the last when the next begins.
  EXPECT_EQ(told_.ended(), "258-518 518-778");
  steps_.finish();
  EXPECT_EQ(told_.ended(), "258-518 518-778 778-1038");
  EXPECT_TRUE(told_.phases_text().starts_with(
      "forward 258-380 backward 380-460 optimizer 460-518 forward 518-640"))
      << told_.phases_text();
}

TEST_F(KernelStepsTest, MicroBatchesAreOneStep) {
  for (int i = 0; i < 3; ++i) step(4);
  EXPECT_EQ(told_.ended(), "858-1718");
}

TEST_F(KernelStepsTest, AFewKernelsOfTheOptimizersKindAreNoStep) {
  step();
  step();
  run(KernelPart::kBackward, 1);
  run(KernelPart::kOptimizer, 2);
  run(KernelPart::kOther, 20);
  run(KernelPart::kBackward, 1);
  run(KernelPart::kOptimizer, 3);
  run(KernelPart::kOther, 8);
  EXPECT_EQ(told_.ended(), "258-518 518-788");
}

TEST_F(KernelStepsTest, ClippingIsOfTheOptimizersStepHoweverManyKernelsItHas) {
  for (int i = 0; i < 4; ++i) {
    run(KernelPart::kOther, 5);  // embeddings and the first norm
    run(KernelPart::kProduct, 10);
    run(KernelPart::kBackward, 10);
    run(KernelPart::kOptimizer, 2);  // gradients scaled
    run(KernelPart::kOther, 3 * KernelSteps::kFewest);
    run(KernelPart::kOptimizer, 4);
  }
  EXPECT_EQ(told_.ended(), "548-1098 1098-1648");
  EXPECT_TRUE(told_.phases_text().starts_with(
      "forward 548-700 backward 700-800 optimizer 800-1098 forward 1098-1250"))
      << told_.phases_text();
}

TEST_F(KernelStepsTest, WithoutAnOptimizerNothingIsTold) {
  run(KernelPart::kOther, 500);
  run(KernelPart::kBackward, 500);
  steps_.finish();
  EXPECT_TRUE(told_.steps.empty());
  EXPECT_FALSE(steps_.has_found_steps());
}

}  // namespace
}  // namespace shardlens::profiler::inject
