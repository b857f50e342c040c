#include "trace/predict/schedule/shortened_schedule.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

// Of a step from 1000 to 1300.
struct ShortenedStep {
  StepProgram program;
  StepSchedule schedule;

  ShortenedStep() {
    schedule.start_ns = 1000;
    schedule.backward_end_ns = 1200;
    schedule.end_ns = 1300;
    schedule.mean_ns = 300;
  }
  void add(std::int64_t start, std::int64_t end, std::int64_t least) {
    PlannedCall call;
    call.transfer_ns = end - start;
    call.least_ns = least;
    schedule.calls.push_back({program.calls.size(), start - 10, start, end});
    program.calls.push_back(call);
  }
  void end_at(std::int64_t end_ns) {
    shorten(program, 1000, shortening_to(program, schedule, 1000, end_ns), schedule);
  }
};

TEST(ShortenedSchedule, IsAsMuchShorterEverywhere) {
  ShortenedStep drawn;
  drawn.add(1100, 1200, 0);
  drawn.schedule.waits = {{1110, 1200, 0}};
  drawn.schedule.exposed_ns = 90;
  drawn.end_at(1180);
  EXPECT_EQ(drawn.schedule.calls[0], (CallTime{0, 1054, 1060, 1120}));
  EXPECT_EQ(drawn.schedule.waits[0].start_ns, 1066);
  EXPECT_EQ(drawn.schedule.waits[0].end_ns, 1120);
  EXPECT_EQ(drawn.schedule.start_ns, 1000);
  EXPECT_EQ(drawn.schedule.backward_end_ns, 1120);
  EXPECT_EQ(drawn.schedule.end_ns, 1180);
  EXPECT_DOUBLE_EQ(drawn.schedule.mean_ns, 180);
  EXPECT_DOUBLE_EQ(drawn.schedule.exposed_ns, 54);
}

// The link needs 60 of the 300: the other 240 become 120.
TEST(ShortenedSchedule, KeepsWhatALinkTakes) {
  ShortenedStep drawn;
  drawn.add(1100, 1200, 60);
  drawn.schedule.waits = {{1110, 1200, 0}};
  drawn.end_at(1180);
  EXPECT_EQ(drawn.schedule.calls[0], (CallTime{0, 1045, 1050, 1130}));
  EXPECT_EQ(drawn.schedule.waits[0].start_ns, 1055);
  EXPECT_EQ(drawn.schedule.waits[0].end_ns, 1130);
  EXPECT_EQ(drawn.schedule.end_ns, 1180);
  EXPECT_DOUBLE_EQ(drawn.schedule.mean_ns, 180);
}

// All of what other ranks wait for is on the link: 60 of 300 ns stay, although the step is shorter.
TEST(ShortenedSchedule, KeepsWhatIsWaitedForALink) {
  ShortenedStep drawn;
  drawn.add(1100, 1200, 60);
  drawn.schedule.waits_of_others = {{1140, 1200, 0}, {1140, 1200, 0}};
  drawn.schedule.exposed_ns = 40;  // of three ranks, in the mean
  drawn.end_at(1180);
  EXPECT_EQ(drawn.schedule.waits_of_others[0].start_ns, 1070);
  EXPECT_EQ(drawn.schedule.waits_of_others[0].end_ns, 1130);
  EXPECT_DOUBLE_EQ(drawn.schedule.exposed_ns, 40);
  EXPECT_DOUBLE_EQ(drawn.schedule.mean_ns, 180);
}

// Each but a nanosecond beside what it needs: 2 of the 300 are left, and half of them.
TEST(ShortenedSchedule, HasNoCallShorterThanItsLink) {
  ShortenedStep drawn;
  drawn.add(1000, 1149, 149);
  drawn.add(1150, 1299, 149);
  drawn.end_at(1299);
  for (const CallTime& call : drawn.schedule.calls) EXPECT_EQ(call.end_ns - call.start_ns, 149);
  EXPECT_LE(drawn.schedule.calls[0].end_ns, drawn.schedule.calls[1].start_ns);
  EXPECT_EQ(drawn.schedule.end_ns, 1299);
}

// From 1100 to 1220 one or both pass it.
TEST(ShortenedSchedule, CountsWhatPassesALinkTogetherOnce) {
  ShortenedStep drawn;
  drawn.add(1100, 1200, 100);
  drawn.add(1150, 1220, 60);
  drawn.end_at(1210);
  EXPECT_EQ(drawn.schedule.calls[0], (CallTime{0, 1045, 1050, 1150}));
  EXPECT_EQ(drawn.schedule.calls[1], (CallTime{1, 1090, 1100, 1170}));
  EXPECT_EQ(drawn.schedule.end_ns, 1210);
}

TEST(ShortenedSchedule, KeepsNothingOfALinkThatTheStepContradicts) {
  ShortenedStep drawn;
  drawn.add(1100, 1300, 200);
  drawn.end_at(1150);
  EXPECT_EQ(drawn.schedule.calls[0], (CallTime{0, 1045, 1050, 1150}));
  EXPECT_EQ(drawn.schedule.end_ns, 1150);
}

}  // namespace
}  // namespace shardlens::trace::predict
