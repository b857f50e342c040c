#include "app/cli/job/run_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::app::cli {
namespace {

using testing::HasSubstr;

TEST(RunJob, SaysAfterWhichStepAJobStops) {
  EXPECT_THAT(stopping_text(1), HasSubstr("after this step;"));
  EXPECT_THAT(stopping_text(100), HasSubstr("whose loss is read, within 100 steps"));
}

}  // namespace
}  // namespace shardlens::app::cli
