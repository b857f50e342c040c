#include "app/session/job_queue.h"

#include <gtest/gtest.h>

#include "tests/app/session/eventually.h"
#include "tests/app/session/fake_job.h"

namespace shardlens::app {
namespace {

using ui::JobPhase;

JobRequest named(const std::string& name) {
  JobRequest request;
  request.name = name;
  return request;
}

struct QueueTest : testing::Test {
  FakeJobs jobs;
  JobQueue queue{jobs.starter(), [] {}};

  bool phase_becomes(JobPhase phase) {
    return eventually([&] { return queue.state().phase == phase; });
  }
};

TEST_F(QueueTest, StartsAtOnceWhenNothingRuns) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  EXPECT_EQ(queue.state().run_name, "a");
  EXPECT_EQ(queue.state().started, 1u);
  jobs.started()[0]->ended = true;
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_EQ(queue.state().ended, 1u);
}

TEST_F(QueueTest, ASecondJobWaitsForTheFirst) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), false);
  EXPECT_EQ(queue.state().queued_name, "b");
  EXPECT_FALSE(jobs.started()[0]->stop_requested);
  jobs.started()[0]->ended = true;
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  EXPECT_EQ(queue.state().run_name, "b");
  EXPECT_EQ(queue.state().queued_name, "");
}

TEST_F(QueueTest, StopAndStartStopsTheFirst) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), true);
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  EXPECT_TRUE(jobs.started()[0]->stop_requested);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  EXPECT_FALSE(jobs.started()[1]->stop_requested) << "the stop was for the first job";
}

TEST_F(QueueTest, WhatWaitsCanBeCancelled) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), false);
  queue.cancel_queued();
  EXPECT_EQ(queue.state().queued_name, "");
  jobs.started()[0]->ended = true;
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_EQ(jobs.started().size(), 1u);
}

TEST_F(QueueTest, StopAsksTheJob) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.stop();
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_TRUE(jobs.started()[0]->stop_requested);
  EXPECT_EQ(queue.state().notice, "") << "what the user asked for needs no notice";
}

TEST_F(QueueTest, StopWithoutAJobDoesNothing) {
  queue.stop();
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  EXPECT_FALSE(jobs.started()[0]->stop_requested);
}

TEST_F(QueueTest, ARefusedStartSaysWhy) {
  jobs.refuse("The folder is not writable.");
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_EQ(queue.state().notice, "The folder is not writable.");
  EXPECT_TRUE(queue.state().notice_is_error);
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  EXPECT_EQ(queue.state().notice, "");
}

TEST_F(QueueTest, AFailedJobSaysWhyAndTheNextStillStarts) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), false);
  jobs.started()[0]->failed = true;
  jobs.started()[0]->ended = true;
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  EXPECT_NE(queue.state().notice.find("out of memory"), std::string::npos);
  EXPECT_TRUE(queue.state().notice_is_error);
}

TEST(JobQueue, StopsItsJobWhenItEnds) {
  FakeJobs jobs;
  {
    JobQueue queue(jobs.starter(), [] {});
    queue.start(named("a"), false);
    ASSERT_TRUE(eventually([&] { return queue.state().phase == JobPhase::kRunning; }));
  }
  EXPECT_TRUE(jobs.started()[0]->stop_requested);
}

}  // namespace
}  // namespace shardlens::app
