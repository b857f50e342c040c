#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Calls by lane, and when each was ready, began and ended.
struct Made {
  StepProgram program;
  StepSchedule schedule;

  void add(std::size_t lane, std::int64_t ready, std::int64_t start, std::int64_t end) {
    PlannedCall call;
    call.lane = lane;
    schedule.calls.push_back({program.calls.size(), ready, start, end});
    program.calls.push_back(call);
  }
  void wait(std::int64_t start, std::int64_t end, std::size_t call) {
    schedule.waits.push_back({start, end, call});
    schedule.end_ns = end;
  }
  std::vector<std::size_t> critical() const { return critical_calls(program, schedule); }
};

TEST(CriticalCalls, AreNoneWhereNothingIsWaitedFor) {
  Made made;
  made.add(0, 10, 10, 20);
  made.schedule.end_ns = 100;
  EXPECT_THAT(made.critical(), IsEmpty());
}

// The second runs alone before the third and holds it up; the first was over long before.
TEST(CriticalCalls, AreThoseThatHoldUpWhatIsWaitedFor) {
  Made made;
  made.add(0, 10, 10, 20);
  made.add(0, 50, 50, 80);
  made.add(0, 60, 80, 110);
  made.wait(90, 110, 2);
  EXPECT_THAT(made.critical(), ElementsAre(1u, 2u));
  EXPECT_EQ(last_train_begin(made.schedule, made.critical()), 1u);
}

TEST(CriticalCalls, OfAnotherLaneHoldUpNothing) {
  Made made;
  made.add(0, 50, 50, 80);
  made.add(1, 55, 55, 85);
  made.add(0, 60, 80, 110);
  made.wait(90, 110, 2);
  EXPECT_THAT(made.critical(), ElementsAre(0u, 2u));
}

// Between the waits the rank computes: both gathers bound the step.
TEST(CriticalCalls, GoOnBeforeWhatIsComputedBetweenTwoWaits) {
  Made made;
  made.add(0, 10, 10, 30);
  made.add(0, 60, 60, 90);
  made.wait(10, 30, 0);
  made.wait(60, 90, 1);
  EXPECT_THAT(made.critical(), ElementsAre(0u, 1u));
  EXPECT_EQ(last_train_begin(made.schedule, made.critical()), 1u) << "a gap lies between";
}

// While it waited for the first, which had been asked for before, nothing later was launched.
TEST(CriticalCalls, LeaveOutWaitsThatALaterCallDidNotDependOn) {
  Made made;
  made.add(0, 5, 5, 40);
  made.add(1, 10, 10, 90);
  made.wait(20, 40, 0);
  made.wait(50, 90, 1);
  EXPECT_THAT(made.critical(), ElementsAre(1u)) << "launched at 10, before the rank waited";
}

}  // namespace
}  // namespace shardlens::trace::predict
