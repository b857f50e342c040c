#include "trace/predict/costs/nccl_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace shardlens::trace::predict {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using model::CollectiveFunction;

// As version 2.17 prints it, shortened.
constexpr const char* kAllReduce =
    R"(# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  21372 on      node7 device  0 [0000:07:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  21372 on      node7 device  1 [0000:0f:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     0.12    0.00    0.00      0     0.13    0.00    0.00      0
           8             2     float     sum      -1    10.25    0.00    0.00      0     9.98    0.00    0.00      0
     1048576        262144     float     sum      -1    23.50   44.62   44.62      0    23.10   45.39   45.39    N/A
   134217728      33554432     float     sum      -1   500.00  268.44  268.44      0   498.00  269.51  269.51      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 78.5163
#
# Collective test concluded: all_reduce_perf
)";

// As versions of 2019: nothing names the collective, columns without a value are empty.
constexpr const char* kOldAllGather =
    R"(# nThread 1 nGpus 4 minBytes 4 maxBytes 4 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid  1 on   dgx device  0 [0x06] Tesla V100-SXM2-32GB
#   Rank  1 Pid  1 on   dgx device  1 [0x07] Tesla V100-SXM2-32GB
#   Rank  2 Pid  1 on   dgx device  2 [0x0a] Tesla V100-SXM2-32GB
#   Rank  3 Pid  1 on  dgx2 device  3 [0x0b] Tesla V100-SXM2-16GB
#
#                                             out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     4194304        262144   float             100.0   41.94   31.46  0e+00     99.0   42.37   31.78  0e+00
)";

NcclTestsTable parsed(const std::string& text) {
  auto table = parse_nccl_tests(text, "'t.txt'");
  EXPECT_TRUE(table) << table.error().message;
  return table ? *table : NcclTestsTable{};
}

std::string error_of(const std::string& text, ErrorKind kind) {
  const auto table = parse_nccl_tests(text, "'t.txt'");
  EXPECT_FALSE(table) << text;
  if (table) return "";
  EXPECT_EQ(table.error().kind, kind) << table.error().message;
  EXPECT_NE(table.error().message.find("'t.txt'"), std::string::npos);
  return table.error().message;
}

std::string with_row(const std::string& row) { return std::string(kOldAllGather) + row + "\n"; }

TEST(NcclTests, TellWhatTheyMeasuredAndOnWhat) {
  const NcclTestsTable table = parsed(kAllReduce);
  EXPECT_EQ(table.function, CollectiveFunction::kAllReduce);
  EXPECT_EQ(table.ranks, 2);
  EXPECT_EQ(table.hosts, 1);
  EXPECT_EQ(table.host, "node7");
  EXPECT_EQ(table.device_name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(table.versions, "NCCL 2.28.9");
  EXPECT_EQ(table.data_type, "float");
  EXPECT_EQ(table.iterations, 20) << "not those of the warm-up";
  const auto rows = cost_rows(table, "it", {}, 0);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3u) << "a size of 0 costs nothing that could be asked for";
  EXPECT_EQ((*rows)[1], (CostRow{{CollectiveFunction::kAllReduce, 2}, 1048576, 20, 23500, {}, {}}));
}

TEST(NcclTests, OlderTablesLeaveColumnsEmptyAndNameNoCollective) {
  const NcclTestsTable table = parsed(kOldAllGather);
  EXPECT_FALSE(table.function);
  EXPECT_EQ(table.ranks, 4);
  EXPECT_EQ(table.hosts, 2);
  EXPECT_EQ(table.device_name, "") << "two kinds of device";
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(table.rows[0].ns, 100'000);
  EXPECT_NEAR(table.rows[0].bus_factor, 0.75, 1e-3);
  EXPECT_TRUE(cost_rows(table, "it", CollectiveFunction::kAllGather, 0));
}

TEST(NcclTests, OptionsTellWhatTheHeaderDoesNotAndMayNotContradict) {
  const auto refusal = [](const std::string& text, std::optional<CollectiveFunction> function,
                          int ranks) {
    const auto rows = cost_rows(parsed(text), "'t.txt'", function, ranks);
    EXPECT_FALSE(rows);
    return rows ? "" : rows.error().message;
  };
  EXPECT_NE(refusal(kOldAllGather, {}, 0).find("--function"), std::string::npos);
  EXPECT_NE(refusal(kAllReduce, CollectiveFunction::kAllGather, 0).find("all_reduce"),
            std::string::npos);
  EXPECT_NE(refusal(kAllReduce, {}, 8).find("between 2 ranks"), std::string::npos);
  EXPECT_NE(refusal("size,count,type,time\n8,2,float,1\n", CollectiveFunction::kAllReduce, 0)
                .find("--ranks"),
            std::string::npos);
  EXPECT_NE(refusal(kOldAllGather, CollectiveFunction::kAllReduce, 0).find("busbw"),
            std::string::npos)
      << "bandwidths betray the wrong collective";
}

TEST(NcclTests, UnitsAreThoseOfTheHeading) {
  EXPECT_DOUBLE_EQ(parsed("size(B),count,type,time(ns)\n8,2,float,7\n").rows[0].ns, 7);
  EXPECT_DOUBLE_EQ(parsed("size,count,type,time(ms)\n8,2,float,7\n").rows[0].ns, 7e6);
  EXPECT_DOUBLE_EQ(parsed("size,count,type,time\n8,2,float,7\n").rows[0].ns, 7e3);
}

TEST(NcclTests, WhatIsNoTableIsRefusedByLine) {
  for (const char* text : {"", "# nothing", "8 2 float sum -1 1 1 1 0 1 1 1 0", "{}", "\xff\xfe"}) {
    error_of(text, ErrorKind::kForeign);
  }
  EXPECT_NE(error_of(with_row("8 2 float"), ErrorKind::kDamaged).find("line 13"),
            std::string::npos);
  error_of(with_row("8 2 float sum 1 2 3 4 5 6 7 8 9 10 11 12"), ErrorKind::kDamaged);
  error_of(with_row("8x 2 float 1 1 1 0 1 1 1 0"), ErrorKind::kDamaged);
  error_of(with_row("99999999999999999999 2 float 1 1 1 0 1 1 1 0"), ErrorKind::kDamaged);
  for (const char* time : {"nan", "inf", "-1", "1e99", "slow"}) {
    error_of(with_row("8 2 float " + std::string(time) + " 1 1 0 1 1 1 0"), ErrorKind::kDamaged);
  }
  EXPECT_NE(error_of(std::string(kAllReduce) + "# Collective test starting: all_gather_perf\n",
                     ErrorKind::kDamaged)
                .find("a file for each"),
            std::string::npos);
  // Lines of other programs around the table are nobody's business.
  EXPECT_EQ(parsed("mpirun -np 2 hello\n12 monkeys\n" + std::string(kAllReduce)).rows.size(), 4u);
}

TEST(NcclTests, NamesAreThoseOfItsPrograms) {
  EXPECT_EQ(nccl_tests_function("all_reduce"), CollectiveFunction::kAllReduce);
  EXPECT_EQ(nccl_tests_function("reduce_scatter_perf"), CollectiveFunction::kReduceScatter);
  EXPECT_EQ(nccl_tests_function("alltoall_perf"), CollectiveFunction::kAllToAll);
  EXPECT_FALSE(nccl_tests_function("allreduce"));
  EXPECT_FALSE(nccl_tests_function(""));
}

// Public tables of 2, 4 and 8 A100 (VIA-Research/vTrain): 1, 2, …, 1024 MiB. Read from the folder
// SHARDLENS_SAMPLES, where it is set.
class PublicTables : public testing::TestWithParam<int> {
 protected:
  fs::path file() const {
    const char* const samples = std::getenv("SHARDLENS_SAMPLES");
    return fs::path(samples != nullptr ? samples : "/nonexistent") / "allreduce_a100" /
           ("AR_GPU" + std::to_string(GetParam()) + "_1M_1024M_LUT.csv");
  }
};

TEST_P(PublicTables, ElevenSizesTellAllOthersWithinAPercent) {
  if (!fs::exists(file())) GTEST_SKIP() << "SHARDLENS_SAMPLES does not hold the table";
  const auto table = read_nccl_tests(file());
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_FALSE(table->function);
  const auto rows = cost_rows(*table, "it", CollectiveFunction::kAllReduce, GetParam());
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1024u);
  EXPECT_EQ(rows->front().bytes, 1 << 20);
  EXPECT_EQ(rows->back().bytes, 1 << 30);
  for (const int other : {2, 4, 8}) {
    EXPECT_EQ(cost_rows(*table, "it", CollectiveFunction::kAllReduce, other).has_value(),
              other == GetParam())
        << "its bandwidths tell how many ranks there were";
  }
  std::vector<CostRow> known;
  for (const CostRow& row : *rows) {
    if (((row.bytes >> 20) & ((row.bytes >> 20) - 1)) == 0) known.push_back(row);
  }
  ASSERT_EQ(known.size(), 11u);
  const CollectiveCosts costs(measured_from(known));
  double error = 0;
  for (const CostRow& row : *rows) {
    const auto cost = costs.of(row.kind, static_cast<double>(row.bytes));
    ASSERT_TRUE(cost);
    error += std::abs(cost->ns / row.median_ns - 1) / 1024;
  }
  // 0.05 to 1.04 % by the samples' own account.
  EXPECT_LT(error, 0.0105);
  EXPECT_GT(error, 0.0004) << "the known sizes were not left out";
}

INSTANTIATE_TEST_SUITE_P(A100, PublicTables, testing::Values(2, 4, 8));

}  // namespace
}  // namespace shardlens::trace::predict
