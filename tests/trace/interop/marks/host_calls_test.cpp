#include "trace/interop/marks/host_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace shardlens::trace::interop {
namespace {

constexpr int kLane = 3;

KinetoEvent event(KinetoCategory category, const std::string& name, std::int64_t start_ns,
                  std::int64_t end_ns) {
  KinetoEvent made;
  made.category = category;
  made.name = name;
  made.start_ns = start_ns;
  made.duration_ns = end_ns - start_ns;
  return made;
}

KinetoEvent op(const std::string& name, std::int64_t start_ns, std::int64_t end_ns) {
  return event(KinetoCategory::kOperator, name, start_ns, end_ns);
}

KinetoEvent mark(const std::string& name, std::int64_t start_ns, std::int64_t end_ns) {
  return event(KinetoCategory::kAnnotation, name, start_ns, end_ns);
}

class NcclCallsTest : public testing::Test {
 protected:
  void add(const KinetoEvent& call) {
    ASSERT_TRUE(NcclCalls::takes(call)) << call.name;
    calls_.add(call, kLane);
  }
  // Kernels that were launched at these times, as they are told then.
  std::vector<KinetoEvent> told(const std::vector<std::int64_t>& times_ns, int lane = kLane) {
    std::vector<KinetoEvent> kernels(times_ns.size());
    std::vector<NcclCalls::Launch> launches;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      launches.push_back({lane, times_ns[i], &kernels[i]});
    }
    calls_.finish([](const base::Interval&) { return true; });
    calls_.tell(launches);
    return kernels;
  }
  NcclCalls calls_;
};

TEST_F(NcclCallsTest, TellAKernelThatIsLaunchedInThem) {
  KinetoEvent asked = op("c10d::alltoall_base_", 100, 200);
  asked.out_elements = 30, asked.in_elements = 40, asked.input_type = "float";
  add(mark("nccl:all_to_all", 120, 180));
  add(op("record_param_comms", 110, 190));
  add(asked);
  const auto kernels = told({150, 201, 99});
  EXPECT_EQ(kernels[0].collective, "all_to_all");
  EXPECT_EQ(kernels[0].in_elements, 40);
  EXPECT_EQ(kernels[0].out_elements, 30);
  EXPECT_EQ(kernels[0].input_type, "float");
  EXPECT_EQ(kernels[1].collective, "") << "behind it";
  EXPECT_EQ(kernels[2].collective, "") << "before it";
}

TEST_F(NcclCallsTest, WhatIsRecordedOfACallCountsBeforeItsMark) {
  KinetoEvent record = op("record_param_comms", 110, 190);
  record.collective = "_allgather_base", record.data_type = "BFloat16", record.group = "7";
  record.group_ranks = "[2, 3]", record.in_elements = 8, record.out_elements = 16;
  record.sequence = 5;
  add(op("c10d::_allgather_base_", 100, 200));
  add(record);
  add(mark("nccl:coalesced", 120, 180));
  const auto kernels = told({150});
  EXPECT_EQ(kernels[0].collective, "_allgather_base");
  EXPECT_EQ(kernels[0].data_type, "BFloat16");
  EXPECT_EQ(kernels[0].group, "7");
  EXPECT_EQ(kernels[0].group_ranks, "[2, 3]");
  EXPECT_EQ(kernels[0].out_elements, 16);
  EXPECT_EQ(kernels[0].sequence, 5);
}

TEST_F(NcclCallsTest, OfOtherThreadsTellNothing) {
  add(op("c10d::allreduce_", 100, 200));
  EXPECT_EQ(told({150}, kLane + 1)[0].collective, "");
  EXPECT_EQ(told({150})[0].collective, "allreduce_");
}

TEST_F(NcclCallsTest, ThatLaunchSeveralKernelsTellNoSizes) {
  KinetoEvent asked = op("c10d::allreduce_", 100, 200);
  asked.input_elements = 1000;
  add(asked);
  asked.start_ns = 300, asked.input_elements = 70, asked.input_type = "TensorList";
  add(asked);
  const auto kernels = told({150, 160, 350});
  EXPECT_EQ(kernels[0].collective, "allreduce_");
  EXPECT_EQ(kernels[0].in_elements, -1);
  EXPECT_EQ(kernels[1].in_elements, -1);
  EXPECT_EQ(kernels[2].in_elements, 70);
  EXPECT_EQ(kernels[2].input_type, "") << "a list of tensors is no type";
}

TEST_F(NcclCallsTest, WithListsOfListsTellNoSizes) {
  KinetoEvent asked = op("c10d::reduce_scatter_", 100, 200);
  asked.input_elements = 10;  // of its outputs: its inputs are lists of lists
  add(asked);
  EXPECT_EQ(told({150})[0].in_elements, -1);
}

TEST_F(NcclCallsTest, DoNotContradictAKernelThatTellsItself) {
  KinetoEvent record = op("record_param_comms", 100, 200);
  record.collective = "allreduce", record.in_elements = 8;
  add(record);
  KinetoEvent kernel;
  kernel.collective = "broadcast", kernel.in_elements = 3;
  calls_.finish([](const base::Interval&) { return true; });
  calls_.tell(std::vector{NcclCalls::Launch{kLane, 150, &kernel}});
  EXPECT_EQ(kernel.collective, "broadcast");
  EXPECT_EQ(kernel.in_elements, 3);
}

}  // namespace
}  // namespace shardlens::trace::interop
