#include "trainer/comm/nccl_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "profiler/nccl/nccl_plugin.h"
#include "tests/profiler/nccl/fake_nccl.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::trainer::comm {
namespace {

class FakeNccl final : public c10d::Backend {
 public:
  explicit FakeNccl(int size) : Backend(0, size) {}
  void shutdown() override { is_shut_down = true; }
  std::atomic<bool> is_shut_down{false};
};

// As NCCL's own: isSuccess() only throws.
class FakeWork : public c10d::Work {
 public:
  explicit FakeWork(std::exception_ptr failure = nullptr) : failure_(std::move(failure)) {}
  bool isCompleted() override { return true; }
  bool isSuccess() const override { throw std::runtime_error("isSuccess() is deprecated"); }
  std::exception_ptr exception() const override { return failure_; }

 private:
  std::exception_ptr failure_;
};

class BrokenWork final : public FakeWork {
 public:
  bool isCompleted() override { throw std::runtime_error("CUDA error: launch failed"); }
};

class EndlessWork final : public FakeWork {
 public:
  bool isCompleted() override { return false; }
};

class SlowWork final : public FakeWork {
 public:
  bool isCompleted() override {
    ++looks;
    return std::chrono::steady_clock::now() - start_ > std::chrono::milliseconds(300);
  }
  std::atomic<int> looks{0};

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct NcclExecutorTest : testing::Test {
  c10::intrusive_ptr<FakeNccl> nccl = c10::make_intrusive<FakeNccl>(2);
  profiler::RecordedRun run;
  NcclExecutor executor{nccl, run.recorder(), {}};

  void submit(const c10::intrusive_ptr<c10d::Work>& work) {
    profiler::queue::CollectiveCall call;
    call.sequence = sequence++;
    CollectiveJob job;
    job.handle = run.recorder().enter_collective(call);
    job.launch = [work](c10d::Backend&) { return work; };
    executor.submit(std::move(job));
  }
  std::int64_t sequence = 0;
};

TEST_F(NcclExecutorTest, RecordsTheEndOfACollective) {
  submit(c10::make_intrusive<FakeWork>());
  submit(c10::make_intrusive<FakeWork>());
  executor.close();
  EXPECT_TRUE(nccl->is_shut_down);
  const auto rows = run.finish().rows;
  ASSERT_EQ(rows.collectives.size(), 2u);
  EXPECT_LE(rows.collectives[0].end_ns, rows.collectives[1].start_ns);
}

TEST_F(NcclExecutorTest, ASingleRankCommunicatesInNoTime) {
  NcclExecutor alone{c10::make_intrusive<FakeNccl>(1), run.recorder(), {}};
  CollectiveJob job;
  profiler::queue::CollectiveCall call;
  call.sequence = 0;
  job.handle = run.recorder().enter_collective(call);
  job.launch = [](c10d::Backend&) { return c10::make_intrusive<EndlessWork>(); };
  alone.submit(std::move(job));
  alone.close();
  const auto rows = run.finish().rows;
  ASSERT_EQ(rows.collectives.size(), 1u);
  EXPECT_GT(rows.collectives[0].start_ns, 0);
  EXPECT_EQ(rows.collectives[0].end_ns, rows.collectives[0].start_ns);
}

// NCCL's plugin sees the call inside the launch and tells which kernel it became.
TEST_F(NcclExecutorTest, DoesNotOverwriteTheKernelsTimesWithWhatItObserves) {
  auto plugin =
      profiler::nccl::NcclPlugin::attach(run.recorder(), 0, profiler::nccl::FakeMarks::marker());
  ASSERT_TRUE(plugin) << plugin.error().message;
  profiler::nccl::FakeMarks::reset();
  profiler::nccl::FakeNccl library(0xabc, 2, 0);
  CollectiveJob job;
  profiler::queue::CollectiveCall call;
  call.sequence = 0;
  job.handle = run.recorder().enter_collective(call);
  job.launch = [&library](c10d::Backend&) {
    library.run("AllReduce", 8, "ncclFloat32");
    return c10::make_intrusive<FakeWork>();
  };
  executor.submit(std::move(job));
  executor.close();
  ASSERT_EQ(profiler::nccl::FakeMarks::told.size(), 1u);
  run.recorder().end_launch(profiler::nccl::FakeMarks::told[0], 7, 100, 200);
  plugin->reset();
  const auto content = run.finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].start_ns, 100);
  EXPECT_EQ(content.rows.collectives[0].end_ns, 200);
  EXPECT_EQ(content.text(content.rows.collectives[0].algorithm), "RING");
}

TEST_F(NcclExecutorTest, LeavesAFailedCollectivePending) {
  submit(c10::make_intrusive<FakeWork>());
  submit(c10::make_intrusive<FakeWork>(std::make_exception_ptr(std::runtime_error("timed out"))));
  executor.close();
  const auto rows = run.finish().rows;
  ASSERT_EQ(rows.collectives.size(), 1u);
  EXPECT_EQ(rows.collectives[0].sequence, 0);
  ASSERT_TRUE(rows.pending && rows.pending->size() == 1u);
  EXPECT_EQ(rows.pending->at(0).sequence, 1);
}

TEST_F(NcclExecutorTest, LooksOftenOnlyWhereTheTimesThatItSeesAreShown) {
  auto plugin =
      profiler::nccl::NcclPlugin::attach(run.recorder(), 0, profiler::nccl::FakeMarks::marker());
  ASSERT_TRUE(plugin) << plugin.error().message;
  const profiler::nccl::FakeNccl library(0xdef, 2, 0);
  const auto looks_of = [this](bool records_kernels) {
    NcclExecutorOptions options;
    options.records_kernels = records_kernels;
    NcclExecutor watching{nccl, run.recorder(), options};
    const auto work = c10::make_intrusive<SlowWork>();
    CollectiveJob job;
    job.launch = [&work](c10d::Backend&) { return work; };
    watching.submit(std::move(job));
    watching.close();
    return work->looks.load();
  };
  const int rarely = looks_of(true);
  EXPECT_LE(rarely, 17);
  bool looks_more_often = false;  // unless it had no processor while the work lasted
  for (int attempt = 0; attempt < 5 && !looks_more_often; ++attempt) {
    looks_more_often = looks_of(false) > rarely;
  }
  EXPECT_TRUE(looks_more_often);
}

TEST_F(NcclExecutorTest, TellsWhichCollectiveDidNotEndInTime) {
  std::promise<CollectiveTimeout> told;
  NcclExecutorOptions options;
  options.world_rank = 3;
  options.timeout = std::chrono::seconds(1);
  options.on_timeout = [&](const CollectiveTimeout& timeout) { told.set_value(timeout); };
  NcclExecutor impatient{nccl, run.recorder(), options};
  run.recorder().begin_step(5);
  run.recorder().begin_phase(trace::base::Phase::kBackward);
  CollectiveJob job;
  job.description = {57,
                     trace::model::CollectiveFunction::kAllReduce,
                     trace::model::CollectiveFunction::kAllReduce,
                     torch::kFloat32,
                     64,
                     {trace::model::TagKind::kBucket, 2, ""}};
  job.launch = [](c10d::Backend&) { return c10::make_intrusive<EndlessWork>(); };
  impatient.submit(std::move(job));
  run.recorder().end_phase();  // the host goes on
  auto answer = told.get_future();
  ASSERT_EQ(answer.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  const CollectiveTimeout timeout = answer.get();
  EXPECT_EQ(timeout.step, 5);
  EXPECT_EQ(timeout.phase, trace::base::Phase::kBackward);
  EXPECT_THAT(timeout.text,
              testing::StartsWith("collective 57 (all_reduce of 64 bytes float32 for bucket 2) "
                                  "failed on rank 3: the other ranks did not take part within 1 s "
                                  "(collective_timeout_s)"));
}

TEST_F(NcclExecutorTest, SurvivesAnErrorOfCudaAndSaysItOnce) {
  submit(c10::make_intrusive<BrokenWork>());
  submit(c10::make_intrusive<BrokenWork>());
  executor.close();
  const auto rows = run.finish().rows;
  EXPECT_TRUE(rows.collectives.empty());
  ASSERT_TRUE(rows.pending);
  EXPECT_EQ(rows.pending->size(), 2u);
  ASSERT_EQ(rows.log.size(), 1u);
  EXPECT_THAT(rows.log[0].text, testing::HasSubstr("CUDA error: launch failed"));
}

}  // namespace
}  // namespace shardlens::trainer::comm
