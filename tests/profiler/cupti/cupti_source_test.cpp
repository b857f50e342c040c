#include "profiler/cupti/cupti_source.h"

#include <gtest/gtest.h>

#include "profiler/collective/captured_collectives.h"
#include "tests/no_more_threads.h"
#include "tests/profiler/cupti/cupti_source_fixture.h"

namespace shardlens::profiler::cupti {
namespace {

using trace::model::EventKind;

constexpr const char* kNcclKernel = "_Z23ncclDevKernel_AllReduceP11ncclDevComm";

using CuptiSourceTest = CuptiSourceFixture;

TEST_F(CuptiSourceTest, BringsRecordsFromCuptisBuffersIntoTheFile) {
  start();
  const std::int64_t now = recorder::Recorder::now_ns();
  auto replayed = kernel_record(2, "_Z4gemmPf", now + 20, now + 30);
  replayed.graphNodeId = 4'711;
  cupti_.add(kernel_record(1, "_Z4gemmPf", now, now + 10));
  cupti_.add(replayed);
  cupti_.add(wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 7, now, now + 40));
  const auto content = finish();
  const auto kernels = events_of(content, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(content.text(kernels[0].name), "gemm(float*)");
  EXPECT_EQ(kernels[0].value, 0);
  EXPECT_EQ(kernels[1].value, 4'711) << "its node of a CUDA graph";
  const auto waits = events_of(content, EventKind::kLaunch);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(content.text(waits[0].name), "cuStreamSynchronize");
  EXPECT_EQ(waits[0].duration_ns, 40);
  EXPECT_EQ(lane_of(content, EventKind::kLaunch), "host waits for stream 7");
  EXPECT_EQ(cupti_.forced_flushes, 1) << "at the end";
  EXPECT_TRUE(content.rows.lost.empty());
}

TEST_F(CuptiSourceTest, TakesInWhatComesMeanwhileAndTheVeryLastBuffers) {
  start();
  cupti_.buffer_limit = 3;
  constexpr std::uint32_t kRecords = 20;
  add_kernels(kRecords / 2);
  ASSERT_TRUE(source_->flush(std::chrono::seconds(5)));
  EXPECT_EQ(cupti_.forced_flushes, 1);
  add_kernels(kRecords / 2);
  const auto content = finish();
  EXPECT_EQ(cupti_.refused_buffers, 0);
  EXPECT_EQ(events_of(content, EventKind::kKernel).size(), kRecords);
}

TEST_F(CuptiSourceTest, HoldsWhatComesBetweenItsPreparationAndItsStart) {
  ASSERT_TRUE(CuptiSource::prepare(options_));
  EXPECT_FALSE(CuptiSource::has_work());
  add_kernels(3);
  EXPECT_TRUE(CuptiSource::has_work());
  EXPECT_EQ(CuptiSource::held_buffers(), 1u);
  EXPECT_TRUE(CuptiSource::has_work()) << "still";
  start();
  add_kernels(2);
  const auto content = finish();
  EXPECT_EQ(events_of(content, EventKind::kKernel).size(), 5u);
  EXPECT_TRUE(content.rows.lost.empty());
}

// A process may only set CUDA up, for as long as it likes.
TEST_F(CuptiSourceTest, KeepsNoBufferInWhichNothingWorks) {
  ASSERT_TRUE(CuptiSource::prepare(options_));
  const std::int64_t now = recorder::Recorder::now_ns();
  for (std::size_t i = 0; i < 2 * options_.buffers; ++i) {
    cupti_.add(
        wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 7, now, now + 40));
    EXPECT_FALSE(CuptiSource::has_work(true));
  }
  EXPECT_EQ(CuptiSource::held_buffers(), 0u);
  EXPECT_EQ(cupti_.refused_buffers, 0);
  start();
}

TEST_F(CuptiSourceTest, ShowsAnObserverKernelsWithoutDetailToo) {
  recorder::RecorderOptions recording;
  recording.schedule = {.first = 5, .last = 6, .every = 1};
  RecordedRun run(std::move(recording));
  std::vector<std::pair<std::string, std::int64_t>> seen;
  options_.on_kernel = [&seen](const KernelActivity& kernel, trace::model::StringId name) {
    EXPECT_NE(name, 0u);
    seen.emplace_back(kernel.name, kernel.end_ns - kernel.start_ns);
  };
  auto source = CuptiSource::start(run.recorder(), options_);
  ASSERT_TRUE(source);
  const std::int64_t now = recorder::Recorder::now_ns();
  cupti_.add(kernel_record(1, "_Z4gemmPf", now, now + 10));
  source->reset();
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, std::int64_t>>{{"_Z4gemmPf", 10}}));
  EXPECT_TRUE(run.finish().rows.events.empty()) << "not in the schedule";
}

TEST_F(CuptiSourceTest, GivesACollectiveItsKernelsTimes) {
  start();
  auto& recorder = run_.recorder();
  const auto handle = recorder.enter_collective(bucket_call(3));
  CuptiSource::begin_launch(70);
  CuptiSource::end_launch();
  EXPECT_EQ(cupti_.pushed, (std::vector<std::uint64_t>{70}));
  EXPECT_EQ(cupti_.popped, 1);
  recorder.launch_collective(handle, {.launch = 70});
  const std::int64_t now = recorder::Recorder::now_ns();
  recorder.observe_collective(handle, 0, now, now + 5'000);
  cupti_.add(kernel_record(9, kNcclKernel, now + 100, now + 300));
  cupti_.add(external_record(70, 9));
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].start_ns, now + 100);
  EXPECT_EQ(content.rows.collectives[0].end_ns, now + 300);
  const auto kernels = events_of(content, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].flags & trace::model::kEventCompute, 0u);
}

TEST_F(CuptiSourceTest, GivesEachReplayOfACapturedLaunchARow) {
  options_.graphs = true;
  start();
  EXPECT_EQ(source_->graphs_refused(), "");
  recorder::Recorder& recorder = run_.recorder();
  const auto captured =
      recorder.capture_collective({.process_group = 3, .sequence = 0, .bytes = 64});
  CuptiSource::begin_launch(11, 5);
  cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 0x10);
  CuptiSource::end_launch();
  recorder.launch_captured(captured, {.launch = 11, .channels = 4});
  cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, 0x20, 0x10);
  const std::int64_t now = recorder::Recorder::now_ns();
  for (std::uint32_t call = 1; call <= 3; ++call) {
    auto kernel = kernel_record(call, kNcclKernel, now + call * 100, now + call * 100 + 50);
    kernel.graphNodeId = 0x20;
    cupti_.add(kernel);
  }
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 3u);
  EXPECT_EQ(content.rows.collectives[2].bytes, 64);
  EXPECT_EQ(content.rows.collectives[2].channels, 4);
  EXPECT_EQ(content.rows.collectives[2].start_ns, now + 300);
  EXPECT_EQ(content.rows.collectives[2].sequence,
            collective::CapturedCollectives::sequence_of(0, {.place = 0, .number = 2}));
  EXPECT_TRUE(content.rows.lost.empty());
}

TEST_F(CuptiSourceTest, ReplaysHaveNoNumberOnceRecordsWereDropped) {
  options_.graphs = true;
  start();
  recorder::Recorder& recorder = run_.recorder();
  recorder.launch_captured(recorder.capture_collective({.sequence = 0}), {.launch = 11});
  CuptiSource::begin_launch(11, 5);
  cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 0x10);
  CuptiSource::end_launch();
  const std::int64_t now = recorder::Recorder::now_ns();
  auto kernel = kernel_record(1, kNcclKernel, now, now + 50);
  kernel.graphNodeId = 0x10;
  cupti_.dropped = 1;
  cupti_.add(kernel);
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].sequence, -1);
}

TEST_F(CuptiSourceTest, WatchesNoGraphsUnlessAskedTo) {
  start();
  EXPECT_FALSE(cupti_.has_subscriber);
}

TEST_F(CuptiSourceTest, RecordsKernelsWhereGraphsCannotBeWatched) {
  options_.graphs = true;
  cupti_.refuse_subscriber = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  start();
  EXPECT_NE(source_->graphs_refused(), "");
  add_kernels(1);
  EXPECT_EQ(events_of(finish(), EventKind::kKernel).size(), 1u);
}

TEST_F(CuptiSourceTest, SaysThatGraphsWereChanged) {
  options_.graphs = true;
  start();
  CuptiSource::begin_launch(11, 5);
  cupti_.call_back_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 0x10);
  CuptiSource::end_launch();
  cupti_.call_back(CUPTI_CB_DOMAIN_RUNTIME_API,
                   CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020);
  const auto log = finish().log();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log[0].find("changes CUDA graphs"), std::string::npos);
}

TEST_F(CuptiSourceTest, ReadsTheShorterRecordsOfCuda12) {
  cupti_.version = 28;
  start();
  const std::int64_t now = recorder::Recorder::now_ns();
  // Poison where the newer record goes on.
  auto kernel = kernel_record(1, "_Z4gemmPf", now, now + 10);
  kernel.graphNodeId = 5;
  cupti_.add(kernel, sizeof(CUpti_ActivityKernel9));
  CUpti_ActivityMemcpy5 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  copy.bytes = 64;
  copy.start = static_cast<std::uint64_t>(now);
  copy.end = static_cast<std::uint64_t>(now + 3);
  cupti_.add(copy);
  const auto content = finish();
  const auto kernels = events_of(content, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].value, 5);
  const auto copies = events_of(content, EventKind::kCopy);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(content.text(copies[0].name), "copy device to device");
  EXPECT_EQ(copies[0].value, 64);
}

TEST_F(CuptiSourceTest, IsOnePerProcess) {
  start();
  const auto second = CuptiSource::start(run_.recorder(), options_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("one CuptiSource per process"), std::string::npos);
}

TEST_F(CuptiSourceTest, WithoutAThreadToBeHadItIsNotAndMayBeLater) {
  {
    const trace::test::NoMoreThreads none;
    const auto started = CuptiSource::start(run_.recorder(), options_);
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message.find("no thread"), std::string::npos);
  }
  start();
}

TEST_F(CuptiSourceTest, MarksNothingWhileItDoesNotRun) {
  CuptiSource::begin_launch(1);
  CuptiSource::end_launch();
  EXPECT_TRUE(cupti_.pushed.empty());
}

}  // namespace
}  // namespace shardlens::profiler::cupti
