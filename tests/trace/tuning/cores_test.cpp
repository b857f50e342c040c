#include "trace/tuning/cores.h"

#include <gtest/gtest.h>

namespace shardlens::trace::tuning {
namespace {

TEST(Cores, AreNamedByTheDevice) {
  EXPECT_EQ(cores_named("Intel(R) Xeon(R) Processor, 2 cores"), 2);
  EXPECT_EQ(cores_named("a, b, 128 cores"), 128);
  for (const char* none :
       {"", "NVIDIA H100", "2 cores", "CPU, many cores", "CPU, 0 cores", ", cores"}) {
    EXPECT_EQ(cores_named(none), std::nullopt) << none;
  }
}

TEST(Cores, AreSharedByTheRanks) {
  job::Settings settings;
  const auto share = [&](std::int64_t ranks, std::int64_t threads, std::int64_t cores) {
    settings.ranks = ranks;
    settings.threads_per_rank = threads;
    return cores_of_a_rank(settings, cores);
  };
  EXPECT_DOUBLE_EQ(share(2, 1, 2), 1);
  EXPECT_DOUBLE_EQ(share(4, 1, 2), 0.5) << "two ranks on each";
  EXPECT_DOUBLE_EQ(share(2, 4, 16), 4) << "no more than it has threads for";
  EXPECT_DOUBLE_EQ(share(2, job::kAuto, 16), 8);
  EXPECT_DOUBLE_EQ(share(4, job::kAuto, 2), 0.5);
}

}  // namespace
}  // namespace shardlens::trace::tuning
