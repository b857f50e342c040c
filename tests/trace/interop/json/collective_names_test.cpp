#include "trace/interop/json/collective_names.h"

#include <gtest/gtest.h>

#include <tuple>

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
  EXPECT_EQ(collective_function("", "ncclKernel_SendRecv_RING_SIMPLE"), F::kOther)
      << "up to NCCL 2.18 it runs any of them";
  EXPECT_EQ(collective_function("", "ncclDevKernel_Generic(x)"), F::kOther);
  EXPECT_EQ(collective_function("gather", "ncclDevKernel_SendRecv(x)"), F::kOther);
  EXPECT_EQ(collective_function("coalesced", "ncclDevKernel_AllReduce(x)"), F::kAllReduce);
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

TEST(NcclNames, KnowValuesByKernelsThatAddThemUp) {
  EXPECT_EQ(torch_type_of_kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)").name, "bfloat16");
  EXPECT_EQ(torch_type_of_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)").bytes, 4);
  EXPECT_EQ(torch_type_of_kernel("ncclKernel_ReduceScatter_TREE_LL_Sum___nv_bfloat16(x)").bytes, 2);
  EXPECT_EQ(torch_type_of_kernel("ncclDevKernel_Reduce_Sum_f64_RING_LL(x)").bytes, 8);
  for (const auto* copies : {"ncclDevKernel_AllGather_RING_LL(x)", "ncclDevKernel_Generic(x)", "",
                             "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(float)"}) {
    EXPECT_EQ(torch_type_of_kernel(copies).bytes, 0) << copies;
  }
}

// What PyTorch 2.11 writes of all of its types, as Python calls them.
TEST(NcclNames, KnowValuesByTheirNamesInCpp) {
  const std::tuple<std::string_view, std::string_view, std::int64_t> types[] = {
      {"float", "float32", 4},
      {"double", "float64", 8},
      {"int", "int32", 4},
      {"long int", "int64", 8},
      {"short int", "int16", 2},
      {"signed char", "int8", 1},
      {"unsigned char", "uint8", 1},
      {"short unsigned int", "uint16", 2},
      {"unsigned int", "uint32", 4},
      {"long unsigned int", "uint64", 8},
      {"bool", "bool", 1},
      {"c10::Half", "float16", 2},
      {"c10::BFloat16", "bfloat16", 2},
      {"c10::Float8_e4m3fn", "float8_e4m3fn", 1},
      {"c10::Float8_e5m2", "float8_e5m2", 1},
      {"c10::complex<float>", "complex64", 8},
      {"c10::complex<double>", "complex128", 16}};
  for (const auto& [cpp, name, bytes] : types) {
    EXPECT_EQ(torch_type_of_input(cpp).name, name) << cpp;
    EXPECT_EQ(torch_type_of_input(cpp).bytes, bytes) << cpp;
  }
  EXPECT_EQ(torch_type_of_input("c10::Quaternion").bytes, 0);
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
