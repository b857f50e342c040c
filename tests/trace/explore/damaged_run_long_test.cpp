// Ten thousand damaged files, for the label `long`: ctest -L long.
#include <gtest/gtest.h>

#include "tests/trace/explore/testing/damaged_run.h"

namespace shardlens::trace::explore {
namespace {

class DamagedRunLong : public testing::TestWithParam<int> {};

TEST_P(DamagedRunLong, IsReadAsFarAsItIsIntact) {
  test::DamagedRuns runs;
  const auto first = static_cast<std::uint64_t>(GetParam()) * 500;
  for (std::uint64_t number = first; number < first + 500; ++number) {
    runs.check(number, test::DamagedRuns::Readers::kAll);
    if (HasFatalFailure()) return;
  }
}

// Twenty parts, so that several run at once and none comes near the limit of a test.
INSTANTIATE_TEST_SUITE_P(TenThousandCases, DamagedRunLong, testing::Range(0, 20));

}  // namespace
}  // namespace shardlens::trace::explore
