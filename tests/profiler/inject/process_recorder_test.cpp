#include "profiler/inject/process_recorder.h"

#include <gtest/gtest.h>

namespace shardlens::profiler::inject {
namespace {

TEST(NcclLog, IsWhereNcclPutsItOnAHostWhoseNameHasADomain) {
  EXPECT_EQ(nccl_log_file("/runs/nccl.%h.%p.log", "node7.cluster.example", 42),
            "/runs/nccl.node7.42.log");
  EXPECT_EQ(nccl_log_file("/runs/nccl.%h.%p.log", "node7", 42), "/runs/nccl.node7.42.log");
}

TEST(NcclLog, KeepsWhatNcclKeeps) {
  EXPECT_EQ(nccl_log_file("/50%%/%x/log%", "node7", 42), "/50%/%x/log%");
}

}  // namespace
}  // namespace shardlens::profiler::inject
