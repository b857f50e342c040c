#include "trace/interop/json/nccl_names.h"

#include <gtest/gtest.h>

namespace shardlens::trace::interop {
namespace {

TEST(NcclNames, TellTheFunctionOfEveryVersion) {
  using F = model::CollectiveFunction;
  EXPECT_EQ(collective_function("", "ncclKernel_AllReduce_RING_LL_Sum_float(x)"), F::kAllReduce);
  EXPECT_EQ(collective_function("", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)"),
            F::kReduceScatter);
  EXPECT_EQ(collective_function("", "ncclDevKernel_Reduce_Sum_f32_RING_LL(x)"), F::kReduce);
  EXPECT_EQ(collective_function("_allgather_base", "ncclDevKernel_Generic"), F::kAllGather);
  EXPECT_EQ(collective_function("all_to_allv", "ncclDevKernel_SendRecv(x)"), F::kAllToAll);
  EXPECT_EQ(collective_function("recv", "ncclDevKernel_SendRecv(x)"), F::kReceive);
  EXPECT_EQ(collective_function("", "ncclKernel_SendRecv_RING_SIMPLE"), F::kSend);
  EXPECT_EQ(collective_function("", "ncclDevKernel_Generic(x)"), F::kOther);
  EXPECT_TRUE(is_nccl_kernel("ncclDevKernel_Generic(x)"));
  EXPECT_FALSE(is_nccl_kernel("void my_nccl_like()"));
}

TEST(NcclNames, CountBytesAsNcclTestsDoes) {
  EXPECT_EQ(torch_type("BFloat16").bytes, 2);
  EXPECT_EQ(torch_type("Float").name, "float32");
  EXPECT_EQ(torch_type("Quaternion").name, "Quaternion");
  EXPECT_EQ(torch_type("Quaternion").bytes, 0);
  // 8 ranks: the whole of what is gathered or scattered.
  EXPECT_EQ(collective_bytes(model::CollectiveFunction::kAllGather, 25136, 201088, 2), 402176);
  EXPECT_EQ(collective_bytes(model::CollectiveFunction::kReduceScatter, 800, 100, 4), 3200);
}

TEST(NcclNames, TellNoBytesFromNoneTold) {
  constexpr auto kAllReduce = model::CollectiveFunction::kAllReduce;
  EXPECT_EQ(collective_bytes(kAllReduce, -1, -1, 4), model::kNotKnown);
  EXPECT_EQ(collective_bytes(kAllReduce, 100, 100, 0), model::kNotKnown)
      << "of a type nobody knows";
  EXPECT_EQ(collective_bytes(kAllReduce, std::int64_t{1} << 62, -1, 8), model::kNotKnown);
  EXPECT_EQ(collective_bytes(model::CollectiveFunction::kAllGather, 100, -1, 4), model::kNotKnown);
  // A rank that has nothing for the others takes part all the same.
  EXPECT_EQ(collective_bytes(model::CollectiveFunction::kAllToAll, 0, 512, 4), 0);
  EXPECT_EQ(collective_bytes(model::CollectiveFunction::kBarrier, -1, -1, 0), 0);
}

}  // namespace
}  // namespace shardlens::trace::interop
