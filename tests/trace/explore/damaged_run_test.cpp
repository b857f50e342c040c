// Damaged files of every kind, the same ones each time.
#include "tests/trace/explore/testing/damaged_run.h"

#include <gtest/gtest.h>

namespace shardlens::trace::explore {
namespace {

class DamagedRun : public testing::TestWithParam<int> {};

TEST_P(DamagedRun, IsReadAsFarAsItIsIntact) {
  test::DamagedRuns runs;
  const auto first = static_cast<std::uint64_t>(GetParam()) * 100;
  for (std::uint64_t number = first; number < first + 100; ++number) {
    const bool is_third = number % 3 == 0;
    runs.check(number, is_third ? test::DamagedRuns::Readers::kAll
                                : test::DamagedRuns::Readers::kAllButExplorer);
    if (HasFatalFailure()) return;
  }
}

// Parts, so that several run at once.
INSTANTIATE_TEST_SUITE_P(FiveHundredCases, DamagedRun, testing::Range(0, 5));

}  // namespace
}  // namespace shardlens::trace::explore
