#include "trace/interop/marks/ddp_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::trace::interop {
namespace {

using testing::HasSubstr;

// Gradients of these elements, each accumulated for 8 ns from 10, 20, 30, … on.
DdpBackward backward_of(const std::vector<std::int64_t>& elements) {
  DdpBackward backward;
  std::int64_t start_ns = 0;
  for (const std::int64_t count : elements) {
    start_ns += 10;
    backward.gradients.push_back({start_ns, start_ns + 8, "[" + std::to_string(count) + "]",
                                  count < 0 ? "" : "float32", count, 4});
  }
  return backward;
}

void reduce(DdpBackward& backward, std::int64_t asked_ns, std::int64_t elements) {
  backward.reductions.push_back({.asked_ns = asked_ns,
                                 .bytes = 4 * elements,
                                 .elements = elements,
                                 .call = backward.reductions.size()});
}

TEST(DdpBuckets, HoldTheGradientsUpToTheOneAtWhichTheirReductionIsAskedFor) {
  DdpBackward backward = backward_of({3, 4, 5});
  reduce(backward, 27, 7);
  reduce(backward, 31, 5);
  reduce(backward, 39, 99);  // behind the last node: somebody else's
  const auto found = find_ddp_buckets(std::vector{backward, backward});
  EXPECT_EQ(found.why_none, "");
  ASSERT_EQ(found.plans.size(), 1u) << "the same in both passes";
  ASSERT_EQ(found.plans[0].size(), 2u);
  EXPECT_EQ(found.plans[0][0].bytes, 28);
  EXPECT_EQ(found.plans[0][0].gradients.size(), 2u);
  EXPECT_EQ(found.plans[0][1].bytes, 20);
  ASSERT_EQ(found.tags.size(), 4u);
  EXPECT_EQ(found.tags[1].call, 1u);
  EXPECT_EQ(found.tags[1].bucket, 1);
}

TEST(DdpBuckets, AreNotWhatTellsOfUnusedParameters) {
  DdpBackward backward = backward_of({3, 4});
  reduce(backward, 21, 7);
  reduce(backward, 22, 2);
  backward.reductions.back().is_of_integers = true;
  const auto found = find_ddp_buckets(std::vector{backward, backward});
  EXPECT_EQ(found.why_none, "");
  ASSERT_EQ(found.plans.size(), 1u);
  EXPECT_EQ(found.plans[0].size(), 1u);
  EXPECT_EQ(found.tags.size(), 2u);
  EXPECT_EQ(found.used_parameters, (std::vector<std::size_t>{1, 1}));
  backward.reductions.back().is_of_integers = false;
  EXPECT_THAT(find_ddp_buckets(std::vector{backward}).why_none, HasSubstr("at one gradient"));
}

TEST(DdpBuckets, AreAskedForInTheLastMicroBatchOnly) {
  DdpBackward reduced = backward_of({3, 4}), other = reduced;
  reduce(reduced, 22, 7);
  const auto found = find_ddp_buckets(std::vector{other, reduced});
  EXPECT_EQ(found.plans.size(), 1u);
  EXPECT_THAT(find_ddp_buckets(std::vector{other}).why_none, HasSubstr("no all-reduce"));
}

TEST(DdpBuckets, ArePlannedAgainAfterAFirstStepButNotTwice) {
  DdpBackward first = backward_of({3, 4}), second = first;
  reduce(first, 22, 7);
  reduce(second, 11, 3);
  reduce(second, 22, 4);
  EXPECT_EQ(find_ddp_buckets(std::vector{first, second, second}).plans.size(), 2u);
  const auto found = find_ddp_buckets(std::vector{first, second, first});
  EXPECT_THAT(found.why_none, HasSubstr("change from one backward pass to another"));
  EXPECT_TRUE(found.plans.empty() && found.tags.empty());
}

TEST(DdpBuckets, AreNotGuessedWhereSumsDiffer) {
  DdpBackward backward = backward_of({3, 4});
  reduce(backward, 22, 8);
  EXPECT_THAT(find_ddp_buckets(std::vector{backward}).why_none,
              HasSubstr("an all-reduce of 8 elements follows gradients of 7"));
  backward = backward_of({3, 4});
  reduce(backward, 22, 7);
  reduce(backward, 23, 2);
  EXPECT_THAT(find_ddp_buckets(std::vector{backward}).why_none, HasSubstr("at one gradient"));
  backward = backward_of({3, 4, 5});
  reduce(backward, 22, 7);
  EXPECT_THAT(find_ddp_buckets(std::vector{backward}).why_none, HasSubstr("behind the last"));
  backward.gradients.back().type = "bfloat16";
  EXPECT_THAT(find_ddp_buckets(std::vector{backward}).why_none, HasSubstr("several data types"));
  backward = backward_of({3, -1});
  reduce(backward, 22, 7);
  EXPECT_THAT(find_ddp_buckets(std::vector{backward}).why_none, HasSubstr("of some gradients"));
  backward = backward_of({INT64_MAX, INT64_MAX});
  backward.reductions.push_back({.asked_ns = 22, .bytes = 8, .elements = INT64_MAX});
  EXPECT_THAT(find_ddp_buckets(std::vector{backward}).why_none, HasSubstr("how large"));
}

}  // namespace
}  // namespace shardlens::trace::interop
