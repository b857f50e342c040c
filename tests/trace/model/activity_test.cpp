#include "trace/model/activity.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace shardlens::trace::model {
namespace {

TEST(StepAt, IsTheOneInWhichAMomentLies) {
  const std::vector<Step> steps{{.index = 7, .start_ns = 10, .end_ns = 20},
                                {.index = 8, .start_ns = 20, .end_ns = 25},
                                {.index = 9, .start_ns = 30, .end_ns = 40}};
  const std::vector<std::pair<int, int>> inside{{10, 7}, {19, 7}, {20, 8}, {30, 9}, {39, 9}};
  for (const auto& [time_ns, index] : inside) {
    const Step* const step = step_at(steps, time_ns);
    ASSERT_NE(step, nullptr) << time_ns;
    EXPECT_EQ(step->index, index) << time_ns;
  }
  for (const int outside : {9, 25, 29, 40}) EXPECT_EQ(step_at(steps, outside), nullptr) << outside;
  EXPECT_EQ(step_at({}, 10), nullptr);
}

}  // namespace
}  // namespace shardlens::trace::model
