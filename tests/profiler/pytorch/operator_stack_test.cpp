#include "profiler/pytorch/operator_stack.h"

#include <gtest/gtest.h>

namespace shardlens::profiler {
namespace {

int depth_of(const pytorch::OperatorStack::Ended& ended) {
  return static_cast<int>(ended.flags >> trace::model::kEventDepthShift);
}
bool is_leaf(const pytorch::OperatorStack::Ended& ended) {
  return ended.flags & trace::model::kEventLeaf;
}
bool is_compute(const pytorch::OperatorStack::Ended& ended) {
  return ended.flags & trace::model::kEventCompute;
}

constexpr bool kAten = true, kNotAten = false;

TEST(OperatorStack, ALoneAtenOperatorIsALeafAndCompute) {
  pytorch::OperatorStack stack;
  stack.begin(10, 1, kAten);
  const auto ended = stack.end(true);
  EXPECT_EQ(ended.start_ns, 10);
  EXPECT_EQ(ended.name, 1u);
  EXPECT_TRUE(is_leaf(ended));
  EXPECT_TRUE(is_compute(ended));
  EXPECT_EQ(depth_of(ended), 0);
}

TEST(OperatorStack, OfAChainOfAtenOperatorsTheOutermostIsCompute) {
  pytorch::OperatorStack stack;
  stack.begin(10, 1, kAten);  // addmm, which multiplies itself
  stack.begin(11, 2, kAten);  // expand
  stack.begin(12, 3, kAten);  // as_strided
  const auto inner = stack.end(true), middle = stack.end(true), outer = stack.end(true);
  EXPECT_TRUE(is_leaf(inner));
  EXPECT_FALSE(is_compute(inner));
  EXPECT_FALSE(is_leaf(middle));
  EXPECT_FALSE(is_compute(middle));
  EXPECT_FALSE(is_leaf(outer));
  EXPECT_TRUE(is_compute(outer));
  EXPECT_EQ(depth_of(inner), 2);
  EXPECT_EQ(depth_of(outer), 0);
}

TEST(OperatorStack, InsideAnAutogradNodeTheAtenOperatorIsCompute) {
  pytorch::OperatorStack stack;
  stack.begin(10, 1, kNotAten);
  stack.begin(11, 2, kAten);
  const auto inner = stack.end(true), outer = stack.end(true);
  EXPECT_TRUE(is_compute(inner));
  EXPECT_FALSE(is_compute(outer));
  EXPECT_FALSE(is_leaf(outer));
}

TEST(OperatorStack, WhatCallsForeignOperatorsMayWaitAndIsNotCompute) {
  pytorch::OperatorStack stack;
  stack.begin(10, 1, kAten);
  stack.begin(11, 2, kAten);
  stack.begin(12, 3, kNotAten);
  stack.end(true);
  const auto middle = stack.end(true), outer = stack.end(true);
  EXPECT_FALSE(is_compute(middle));
  EXPECT_FALSE(is_compute(outer));
}

TEST(OperatorStack, AForeignLeafIsALeafOnly) {
  pytorch::OperatorStack stack;
  stack.begin(10, 1, kNotAten);
  const auto ended = stack.end(true);
  EXPECT_TRUE(is_leaf(ended));
  EXPECT_FALSE(is_compute(ended));
}

TEST(OperatorStack, InsideACollectiveNothingIsCompute) {
  pytorch::OperatorStack stack;
  stack.begin(10, 1, kAten);
  EXPECT_FALSE(is_compute(stack.end(false)));
}

TEST(OperatorStack, LeavesOutWhatIsNestedDeeperThanItCanHold) {
  pytorch::OperatorStack stack;
  for (int i = 0; i < pytorch::OperatorStack::kMaxDepth + 3; ++i) stack.begin(10 + i, 1, kAten);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stack.end(true).start_ns, 0);
  EXPECT_EQ(stack.end(true).start_ns, 10 + pytorch::OperatorStack::kMaxDepth - 1);
  for (int i = 0; i < pytorch::OperatorStack::kMaxDepth - 1; ++i) stack.end(true);
  EXPECT_EQ(stack.depth(), 0);
  EXPECT_EQ(stack.end(true).start_ns, 0) << "an end without a start is ignored";
}

}  // namespace
}  // namespace shardlens::profiler
