#include "profiler/recorder/core_wait.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <filesystem>
#include <thread>

namespace shardlens::profiler::recorder {
namespace {

double computed_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(CoreWait, CountsNoMoreThanTheRecordersThreadsComputed) {
  CoreWait wait;
  EXPECT_EQ(wait.add(1'000'000, 500), 0) << "before the recorder looked";
  EXPECT_EQ(wait.add(1'000'300, 600), 100);
  EXPECT_EQ(wait.add(1'000'320, 900), 120);
  EXPECT_EQ(wait.add(1'000'320, 1900), 120) << "a job that never waits";
}

TEST(CoreWait, KnowsNothingBeforeAThreadTrains) {
  CoreWait wait;
  EXPECT_EQ(wait.look(1, 1'000, true), 0);
}

TEST(CoreWait, SeesTheTrainingThreadWaitWhereAnotherHasItsCore) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  CoreWait wait;
  wait.follow();
  wait.look(1, 0, true);
  const auto work = [] {  // each for itself, however often somebody else has the core
    for (const double start = computed_seconds(); computed_seconds() < start + 0.1;) continue;
  };
  std::thread other(work);  // inherits the core
  work();
  other.join();
  const auto sum = wait.look(2, 1'000'000'000, true);
  sched_setaffinity(0, sizeof all, &all);
  if (!std::filesystem::exists("/proc/self/schedstat")) {
    GTEST_SKIP() << "the kernel counts no waiting";
  }
  EXPECT_GT(sum, 20'000'000);
}

}  // namespace
}  // namespace shardlens::profiler::recorder
