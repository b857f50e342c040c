#include "app/session/jobs/job_queue.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/app/session/eventually.h"
#include "tests/app/session/fake_job.h"
#include "tests/files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::app::session {
namespace {

using namespace std::chrono_literals;
using ui::state::JobPhase;

launch::JobRequest named(const std::string& name) {
  launch::JobRequest request;
  request.name = name;
  return request;
}

struct QueueTest : testing::Test {
  FakeJobs jobs;
  Notice notice;
  JobQueue queue{jobs.starter(), notice, [] {}};

  std::string waiting() const {
    std::string names;
    for (const auto& job : queue.state().queued) names += (names.empty() ? "" : " ") + job.name;
    return names;
  }
  bool phase_becomes(JobPhase phase) {
    return eventually([&] { return queue.state().phase == phase; });
  }
};

TEST_F(QueueTest, StartsAtOnceWhenNothingRuns) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  EXPECT_EQ(queue.state().run_name, "a");
  EXPECT_EQ(queue.state().started, 1u);
  jobs.started()[0]->end();
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_EQ(queue.state().ended, 1u);
}

// A job tells when something has happened to it; looking again and again would cost for nothing.
TEST_F(QueueTest, LooksAtAJobWhenItHasNewsAndElseOnceASecond) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  const auto job = jobs.started()[0];
  const int before = job->looked_at;
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));  // without news
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(job->looked_at - before, 2 + waited.count());
  job->end();
  EXPECT_TRUE(phase_becomes(JobPhase::kNone));
}

TEST_F(QueueTest, ASecondJobWaitsForTheFirst) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), false);
  EXPECT_EQ(waiting(), "b");
  EXPECT_FALSE(jobs.started()[0]->stop_requested);
  jobs.started()[0]->end();
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  EXPECT_EQ(queue.state().run_name, "b");
  EXPECT_EQ(waiting(), "");
}

TEST_F(QueueTest, AnyNumberOfJobsRunOneAfterAnotherInTheOrderChosen) {
  for (const char* name : {"a", "b", "c", "d", "e"}) queue.start(named(name), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  EXPECT_EQ(queue.state().run_name, "a");
  EXPECT_EQ(waiting(), "b c d e");
  const auto ids = queue.state().queued;
  queue.move_queued(ids[3].id, -1);
  EXPECT_EQ(waiting(), "b c e d");
  queue.move_queued(ids[0].id, 9);
  EXPECT_EQ(waiting(), "c e d b");
  queue.start(named("f"), true);  // now: before those that wait, and "a" is asked to stop
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  std::string order;
  for (std::size_t job = 1; job < 6; ++job) {
    ASSERT_TRUE(eventually([&] { return queue.state().started == job + 1; }));
    order += queue.state().run_name;
    jobs.started()[job]->end();
  }
  EXPECT_EQ(order, "fcedb");
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
}

TEST_F(QueueTest, AJobThatIsRefusedDoesNotHoldTheOthersBack) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), false);
  queue.start(named("c"), false);
  jobs.refuse("No.");
  jobs.started()[0]->end();
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  EXPECT_EQ(queue.state().run_name, "c");
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
  queue.start(named("c"), false);
  queue.cancel_queued(queue.state().queued[0].id);
  EXPECT_EQ(waiting(), "c");
  queue.cancel_queued(0);
  EXPECT_EQ(waiting(), "");
  jobs.started()[0]->end();
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_EQ(jobs.started().size(), 1u);
}

TEST_F(QueueTest, TheRunThatIsMeantIsStoppedAndNoOther) {
  queue.start(named("a"), false);
  std::atomic<int> told = 0;
  queue.start(named("b"), false);
  queue.start(named("c"), false, [&](const auto& end) { told += end ? 100 : 1; });
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.stop_run("c");
  EXPECT_EQ(told, 1) << "it is cancelled";
  EXPECT_EQ(waiting(), "b");
  EXPECT_EQ(queue.state().phase, JobPhase::kRunning);
  jobs.started()[0]->end();
  ASSERT_TRUE(eventually([&] { return jobs.started().size() == 2; }));
  queue.stop_run("a");
  EXPECT_NE(queue.state().phase, JobPhase::kStopping) << "it has ended, and the next one begins";
  queue.stop_run("b");
  EXPECT_TRUE(eventually([&] { return jobs.started()[1]->stop_requested.load(); }));
  EXPECT_TRUE(phase_becomes(JobPhase::kNone));
}

TEST(JobQueue, ARunThatIsStoppedWhileItStartsIsStopped) {
  FakeJobs jobs;
  Notice notice;
  std::atomic<bool> starts = false, goes_on = false;
  JobQueue queue(
      [&](const launch::JobRequest& request, std::function<void()> on_news) {
        starts = true;
        eventually([&] { return goes_on.load(); });
        return jobs.starter()(request, std::move(on_news));
      },
      notice, [] {});
  queue.start(named("a"), false);
  ASSERT_TRUE(eventually([&] { return starts.load(); }));
  queue.stop_run("a");
  goes_on = true;
  ASSERT_TRUE(eventually([&] { return queue.state().phase == JobPhase::kNone; }));
  ASSERT_EQ(jobs.started().size(), 1u);
  EXPECT_TRUE(jobs.started()[0]->stop_requested);
}

TEST_F(QueueTest, StopAsksTheJob) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.stop();
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_TRUE(jobs.started()[0]->stop_requested);
  EXPECT_EQ(notice.words().text, "") << "what the user asked for needs no notice";
}

TEST_F(QueueTest, StoppedAnyNumberOfTimesAJobIsKilledOnlyWhenThatIsAskedFor) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  const auto job = jobs.started()[0];
  job->ends_when_stopped = false;
  queue.start(named("b"), true);  // stops it, too
  queue.stop();
  ASSERT_TRUE(eventually([&] { return job->stop_requested.load(); }));
  const int before = job->looked_at;
  queue.stop();
  ASSERT_TRUE(eventually([&] { return job->looked_at > before; }));
  EXPECT_FALSE(job->killed);
  queue.kill_now();
  ASSERT_TRUE(eventually([&] { return job->killed.load(); }));
  ASSERT_TRUE(eventually([&] { return queue.state().run_name == "b"; }));
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  EXPECT_FALSE(jobs.started()[1]->killed);
}

TEST_F(QueueTest, AKillThatComesAfterTheJobsEndLeavesTheNextOneAlone) {
  queue.start(named("a"), false);
  queue.start(named("b"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  jobs.started()[0]->end();
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  const auto next = jobs.started()[1];
  queue.kill_now();
  next->on_news();
  const int before = next->looked_at;
  EXPECT_TRUE(eventually([&] { return next->looked_at > before; }));
  EXPECT_FALSE(next->killed);
  EXPECT_FALSE(next->stop_requested);
}

TEST_F(QueueTest, AStopWhoseCheckpointWasLostIsTold) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  jobs.started()[0]->loses_checkpoint = true;
  queue.stop();
  ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  EXPECT_EQ(notice.words().text,
            "Run “a” was stopped by the user, but the checkpoint was not saved");
}

TEST_F(QueueTest, TellsWhetherItsJobSavesCheckpoints) {
  for (const bool is_measured : {false, true}) {
    launch::JobRequest request = named("a");
    request.settings.save_every = 2;
    request.is_measured = is_measured;
    queue.start(request, false);
    ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
    EXPECT_EQ(queue.state().saves_checkpoints, !is_measured);
    queue.stop();
    ASSERT_TRUE(phase_becomes(JobPhase::kNone));
  }
}

void start_job_that_saves(JobQueue& queue, bool when_stopped = true) {
  launch::JobRequest request = named("a");
  request.settings.checkpoint_on_stop = when_stopped;
  request.settings.save_every = when_stopped ? 0 : 2;
  queue.start(request, false);
  EXPECT_TRUE(eventually([&] { return queue.state().phase == JobPhase::kRunning; }));
}

class ClosedQueue : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(JobQueue, ClosedQueue, testing::Values(true, false));

TEST_P(ClosedQueue, WaitsForAJobThatSavesWhenStoppedOrMayHaveACheckpointDue) {
  FakeJobs jobs;
  Notice notice;
  auto queue = std::make_unique<JobQueue>(
      jobs.starter(), notice, [] {}, 0ms);
  start_job_that_saves(*queue, GetParam());
  const auto job = jobs.started().at(0);
  job->ends_when_stopped = false;
  std::jthread closing([&] { queue.reset(); });
  ASSERT_TRUE(eventually([&] { return job->stop_requested.load(); }));
  const int before = job->looked_at;
  if (!job->killed) job->on_news();
  EXPECT_TRUE(eventually([&] { return job->looked_at > before || job->killed; }));
  if (!job->killed) job->end();
  closing.join();
  EXPECT_FALSE(job->killed);
}

// A process of its own, which stands still until it is killed.
class SuspendedProcess {
 public:
  SuspendedProcess() : id_(fork()) {
    if (id_ != 0) return;
    raise(SIGSTOP);
    _exit(0);
  }
  ~SuspendedProcess() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  SuspendedProcess(const SuspendedProcess&) = delete;
  SuspendedProcess& operator=(const SuspendedProcess&) = delete;
  pid_t id() const { return id_; }

 private:
  const pid_t id_;
};

// A job whose only rank stands still.
struct HangingJobTest : testing::Test {
  const trace::test::Folder folder;
  const SuspendedProcess suspended;
  FakeJobs jobs;
  Notice notice;
  std::unique_ptr<JobQueue> queue;

  void SetUp() override {
    trace::model::RunInfo info;
    info.name = "a";
    info.world_size = 1;
    const auto run = trace::store::create_run(folder.path(), info, false);
    ASSERT_TRUE(run);
    auto writer = trace::store::TraceWriter::create(trace::store::rank_file(*run, 0), 0);
    ASSERT_TRUE(writer);
    trace::model::Batch batch;
    batch.rank_info = trace::model::RankInfo{};
    batch.rank_info->process_id = suspended.id();
    batch.heartbeat = trace::model::Heartbeat{.rank = 0, .alive_ns = 1, .progress_ns = 1};
    (*writer)->submit(std::move(batch));
    ASSERT_TRUE((*writer)->close());
    jobs.record_in(*run);
    queue = std::make_unique<JobQueue>(jobs.starter(), notice, [] {});
    start_job_that_saves(*queue);
    jobs.started().at(0)->ends_when_stopped = false;
  }
};

// Whatever is on screen: nothing else looks at the run here.
TEST_F(HangingJobTest, IsEndedAndTheUserToldWhichRankHangs) {
  ASSERT_TRUE(eventually([&] { return queue->state().phase == JobPhase::kNone; }));
  const auto text = notice.words().text;
  EXPECT_TRUE(text.starts_with("Run “a” failed: rank 0 has been suspended for ")) << text;
  EXPECT_FALSE(jobs.started().at(0)->killed);
}

TEST_F(HangingJobTest, IsEndedInsteadOfSavingWhenTheWindowCloses) {
  const auto job = jobs.started().at(0);
  std::jthread closing([&] { queue.reset(); });
  ASSERT_TRUE(eventually([&] { return job->stop_requested.load(); }));
  EXPECT_TRUE(eventually([&] { return job->failed.load(); })) << "nobody asked for its abort";
  if (!job->ended) job->end();
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
  EXPECT_EQ(notice.words().text, "The folder is not writable.");
  EXPECT_TRUE(notice.words().is_error);
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
}

TEST_F(QueueTest, AFailedJobSaysWhyAndTheNextStillStarts) {
  queue.start(named("a"), false);
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), false);
  jobs.started()[0]->failed = true;
  jobs.started()[0]->end();
  ASSERT_TRUE(eventually([&] { return queue.state().started == 2; }));
  EXPECT_NE(notice.words().text.find("out of memory"), std::string::npos);
  EXPECT_TRUE(notice.words().is_error);
}

TEST_F(QueueTest, WhoeverAskedForAJobIsToldItsEndOnce) {
  std::mutex mutex;
  std::vector<std::string> told;
  const auto tell = [&](const std::string& name) {
    return [&, name](const trace::base::Result<launch::JobStatus>& end) {
      const std::lock_guard lock(mutex);
      told.push_back(name + (end ? ": ended" : ": " + end.error().message));
    };
  };
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return told.size();
  };
  queue.start(named("a"), false, tell("a"));
  ASSERT_TRUE(phase_becomes(JobPhase::kRunning));
  queue.start(named("b"), false, tell("b"));
  queue.start(named("c"), false, tell("c"));
  queue.cancel_queued(queue.state().queued[0].id);
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  jobs.refuse("No.");
  jobs.started()[0]->end();
  ASSERT_TRUE(eventually([&] { return count() == 3; }));
  EXPECT_EQ(told, (std::vector<std::string>{"b: it was cancelled", "a: ended", "c: No."}));
}

TEST(JobQueue, WhoeverWaitsIsToldWhenTheQueueGoes) {
  FakeJobs jobs;
  Notice notice;
  std::atomic<int> told = 0;
  {
    JobQueue queue(jobs.starter(), notice, [] {});
    const auto tell = [&](const trace::base::Result<launch::JobStatus>& end) {
      EXPECT_FALSE(end);
      ++told;
    };
    queue.start(named("a"), false, tell);
    ASSERT_TRUE(eventually([&] { return queue.state().phase == JobPhase::kRunning; }));
    queue.start(named("b"), false, tell);
  }
  EXPECT_EQ(told, 2);
}

TEST(JobQueue, StopsItsJobWhenItEnds) {
  FakeJobs jobs;
  Notice notice;
  {
    JobQueue queue(jobs.starter(), notice, [] {});
    queue.start(named("a"), false);
    ASSERT_TRUE(eventually([&] { return queue.state().phase == JobPhase::kRunning; }));
  }
  EXPECT_TRUE(jobs.started()[0]->stop_requested);
}

}  // namespace
}  // namespace shardlens::app::session
