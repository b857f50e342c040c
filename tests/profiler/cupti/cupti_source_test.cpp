#include "profiler/cupti/cupti_source.h"

#include <gtest/gtest.h>

#include <thread>

#include "profiler/cupti/cupti_clock.h"
#include "tests/profiler/cupti/activity_records.h"
#include "tests/profiler/cupti/fake_cupti.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler {
namespace {

using trace::EventKind;

constexpr const char* kNccl = "_Z23ncclDevKernel_AllReduceP11ncclDevComm";

class CuptiSourceTest : public testing::Test {
 protected:
  CuptiSourceTest() : api_(FakeCupti::api()) {
    options_.buffers = 4;
    options_.api = &api_;
  }
  void start() {
    auto started = CuptiSource::start(run_.recorder(), options_);
    ASSERT_TRUE(started) << started.error().message;
    source_ = std::move(*started);
  }
  RecordedRun::Content finish() {
    source_.reset();
    return run_.finish();
  }
  static std::vector<trace::Event> events_of(const RecordedRun::Content& content, EventKind kind) {
    std::vector<trace::Event> events;
    for (const trace::EventRun& run : content.rows.events)
      if (run.kind == kind) events.insert(events.end(), run.events.begin(), run.events.end());
    return events;
  }
  static std::string lane_of(const RecordedRun::Content& content, EventKind kind) {
    for (const trace::EventRun& run : content.rows.events) {
      if (run.kind != kind) continue;
      for (const trace::Lane& lane : content.rows.lanes)
        if (lane.id == run.lane) return content.text(lane.name);
    }
    return "";
  }
  static std::int64_t lost(const RecordedRun::Content& content, std::string_view reason) {
    std::int64_t count = 0;
    for (const trace::Lost& row : content.rows.lost)
      if (row.reason == reason) count += row.count;
    return count;
  }

  FakeCupti cupti_;
  CuptiApi api_;
  CuptiOptions options_;
  RecordedRun run_;
  std::unique_ptr<CuptiSource> source_;
};

TEST_F(CuptiSourceTest, BringsRecordsFromCuptisBuffersIntoTheFile) {
  start();
  const std::int64_t now = Recorder::now_ns();
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
  const std::int64_t now = Recorder::now_ns();
  for (std::uint32_t i = 0; i < kRecords / 2; ++i)
    cupti_.add(kernel_record(i, "_Z4gemmPf", now + i, now + i + 1));
  ASSERT_TRUE(source_->flush(std::chrono::seconds(5)));
  EXPECT_EQ(cupti_.forced_flushes, 1);
  for (std::uint32_t i = kRecords / 2; i < kRecords; ++i)
    cupti_.add(kernel_record(i, "_Z4gemmPf", now + i, now + i + 1));
  const auto content = finish();
  EXPECT_EQ(cupti_.refused_buffers, 0);
  EXPECT_EQ(events_of(content, EventKind::kKernel).size(), kRecords);
}

TEST_F(CuptiSourceTest, ShowsAnObserverKernelsWithoutDetailToo) {
  RecorderOptions recording;
  recording.schedule = {.first = 5, .last = 6, .every = 1};
  RecordedRun run(std::move(recording));
  std::vector<std::pair<std::string, std::int64_t>> seen;
  options_.on_kernel = [&seen](const KernelActivity& kernel, trace::StringId name) {
    EXPECT_NE(name, 0u);
    seen.emplace_back(kernel.name, kernel.end_ns - kernel.start_ns);
  };
  auto source = CuptiSource::start(run.recorder(), options_);
  ASSERT_TRUE(source);
  const std::int64_t now = Recorder::now_ns();
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
  const std::int64_t now = Recorder::now_ns();
  recorder.observe_collective(handle, 0, now, now + 5'000);
  cupti_.add(kernel_record(9, kNccl, now + 100, now + 300));
  cupti_.add(external_record(70, 9));
  const auto content = finish();
  ASSERT_EQ(content.rows.collectives.size(), 1u);
  EXPECT_EQ(content.rows.collectives[0].start_ns, now + 100);
  EXPECT_EQ(content.rows.collectives[0].end_ns, now + 300);
  const auto kernels = events_of(content, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].flags & trace::kEventCompute, 0u);
}

TEST_F(CuptiSourceTest, ReadsTheShorterRecordsOfCuda12) {
  cupti_.version = 28;
  start();
  const std::int64_t now = Recorder::now_ns();
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

TEST_F(CuptiSourceTest, CountsWhatItCannotKeep) {
  start();
  CUpti_Activity of_the_future{};
  of_the_future.kind = static_cast<CUpti_ActivityKind>(999);
  cupti_.add(of_the_future);
  const std::int64_t now = Recorder::now_ns();
  cupti_.add(kernel_record(1, "_Z4gemmPf", 0, now));
  cupti_.add(kernel_record(2, "_Z4gemmPf", now, now - 1));
  cupti_.dropped = 12;
  const auto content = finish();
  EXPECT_EQ(lost(content, "CUPTI record of an unknown kind"), 1);
  EXPECT_EQ(lost(content, "CUPTI record without true times"), 2);
  EXPECT_EQ(lost(content, "CUPTI dropped records"), 12);
  EXPECT_TRUE(events_of(content, EventKind::kKernel).empty());
}

// What a flush costs is the flush thread's own.
TEST_F(CuptiSourceTest, ChargesTheJobOnlyWithTheOverheadOfItsThreads) {
  start();
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.start = 100;
  overhead.end = 1'100;
  overhead.objectId.pt.threadId = 77;
  cupti_.add(overhead);
  ASSERT_TRUE(source_->flush(std::chrono::seconds(5)));
  overhead.end = 1'000'000'100;
  overhead.objectId.pt.threadId = cupti_.flushing_thread;
  cupti_.add(overhead);
  const auto content = finish();
  ASSERT_TRUE(content.rows.cost);
  EXPECT_EQ(content.rows.cost->callback_ns, 1'000);
}

TEST_F(CuptiSourceTest, CountsBuffersThatItCouldNotGive) {
  options_.buffers = 2;
  start();
  cupti_.buffer_limit = 1;
  const std::int64_t now = Recorder::now_ns();
  for (std::uint32_t i = 0; i < 5; ++i)
    cupti_.add(kernel_record(i, "_Z4gemmPf", now + i, now + i + 1));
  const auto content = finish();
  EXPECT_EQ(cupti_.refused_buffers, 1);
  EXPECT_EQ(lost(content, "CUPTI had no buffer"), 1);
}

TEST_F(CuptiSourceTest, RefusesNoBufferWhereCuptiWouldCrash) {
  for (const std::uint32_t version : {26u, 27u}) {
    const bool crashes = version < 27;
    cupti_.version = version;
    options_.buffers = 1;
    start();
    std::vector<std::uint8_t*> given;
    for (int i = 0; i < 3; ++i) given.push_back(cupti_.request_buffer());
    EXPECT_NE(given[0], nullptr);
    EXPECT_EQ(given[1] != nullptr, crashes) << version;
    EXPECT_EQ(given[2] != nullptr, crashes) << version;
    source_.reset();
    // Kinds stay enabled: CUPTI goes on asking.
    given.push_back(cupti_.request_buffer());
    EXPECT_EQ(given[3] != nullptr, crashes) << version;
    for (std::uint8_t* buffer : given)
      if (buffer != nullptr) cupti_.complete_buffer(buffer, 64);
  }
  const auto content = run_.finish();
  EXPECT_EQ(lost(content, "CUPTI had no buffer"), 4) << "two of each version, while it recorded";
}

TEST_F(CuptiSourceTest, RecordsNvtxRangesWithTheirNestingWhereAskedTo) {
  options_.nvtx = true;
  start();
  EXPECT_TRUE(cupti_.enabled.contains(CUPTI_ACTIVITY_KIND_MARKER));
  const std::int64_t now = Recorder::now_ns();
  char name[] = "outer";
  cupti_.add(marker_record(CUPTI_ACTIVITY_FLAG_MARKER_START, 1, now, name));
  cupti_.add(marker_record(CUPTI_ACTIVITY_FLAG_MARKER_START, 2, now + 10, "inner", "lib"));
  cupti_.add(marker_record(CUPTI_ACTIVITY_FLAG_MARKER_END, 2, now + 20));
  ASSERT_TRUE(source_->flush(std::chrono::seconds(5)));
  std::strcpy(name, "gone!");  // the program's own memory
  cupti_.add(marker_record(CUPTI_ACTIVITY_FLAG_MARKER_END, 1, now + 30));
  const auto content = finish();
  const auto ranges = events_of(content, EventKind::kOperator);
  ASSERT_EQ(ranges.size(), 2u);
  const auto& outer = ranges[0].depth() == 0 ? ranges[0] : ranges[1];
  const auto& inner = ranges[0].depth() == 0 ? ranges[1] : ranges[0];
  EXPECT_EQ(content.text(outer.name), "outer");
  EXPECT_EQ(outer.duration_ns, 30);
  EXPECT_EQ(content.text(inner.name), "lib: inner");
  EXPECT_EQ(inner.depth(), 1);
  EXPECT_EQ(inner.flags & trace::kEventCompute, 0u);
  EXPECT_EQ(lane_of(content, EventKind::kOperator), "NVTX of thread 77");
}

TEST_F(CuptiSourceTest, RecordsHowLongTheDriversMemoryLivedWhereAskedTo) {
  options_.driver_memory = true;
  start();
  const std::int64_t now = Recorder::now_ns();
  cupti_.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 0x10, 512, now));
  cupti_.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 0x10, 512, now + 100));
  cupti_.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 0x10, 64, now + 200));
  const auto content = finish();
  const auto allocations = events_of(content, EventKind::kAllocation);
  ASSERT_EQ(allocations.size(), 2u);
  EXPECT_EQ(allocations[0].value, 512);
  EXPECT_EQ(allocations[0].duration_ns, 100);
  EXPECT_EQ(content.text(allocations[0].name), "device memory");
  EXPECT_EQ(allocations[1].value, 64);
  EXPECT_GT(allocations[1].duration_ns, 0) << "never released: until the end";
}

TEST_F(CuptiSourceTest, EnablesByDefaultOnlyWhatIsCheap) {
  start();
  EXPECT_TRUE(cupti_.enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_TRUE(cupti_.enabled.contains(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
  EXPECT_FALSE(cupti_.enabled.contains(CUPTI_ACTIVITY_KIND_MARKER));
  EXPECT_FALSE(cupti_.enabled.contains(CUPTI_ACTIVITY_KIND_MEMORY2));
  EXPECT_FALSE(cupti_.enabled.contains(CUPTI_ACTIVITY_KIND_RUNTIME));
  EXPECT_EQ(cupti_.enabled_calls.size(), 8u);
  EXPECT_TRUE(cupti_.enabled_calls.contains(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel));
  EXPECT_EQ(cupti_.enabled_runtime_calls.size(), 10u);
  EXPECT_TRUE(
      cupti_.enabled_runtime_calls.contains(CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000));
  source_.reset();
  EXPECT_TRUE(cupti_.enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
      << "disabling while others launch is unsafe";
}

// CUPTI 13 fills a buffer per thread by default: what autograd's thread launches into a stream
// would come long after what the main thread launched there later.
TEST_F(CuptiSourceTest, AsksForOneOrderOverAllThreadsAndClearsBuffersItself) {
  start();
  EXPECT_EQ(cupti_.attributes, (std::map<CUpti_ActivityAttribute, int>{
                                   {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0},
                                   {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1}}));
}

TEST_F(CuptiSourceTest, RecordsTheClocksOffsetAndWarnsOnceOfALargeOne) {
  cupti_.clock_offset_ns = 3'000'000;
  start();
  std::this_thread::sleep_for(std::chrono::milliseconds(1'200));
  const auto content = finish();
  std::vector<double> offsets;
  for (const trace::CounterSample& sample : content.rows.counters)
    if (content.text(sample.name) == "GPU clock offset") {
      EXPECT_EQ(content.text(sample.unit), "ns");
      offsets.push_back(sample.value);
    }
  ASSERT_GE(offsets.size(), 2u) << "once per second";
  for (const double offset : offsets) EXPECT_NEAR(offset, 3e6, 1e6);
  ASSERT_EQ(content.rows.log.size(), 1u);
  EXPECT_NE(content.rows.log[0].text.find("GPU's clock differs"), std::string::npos);
}

TEST_F(CuptiSourceTest, DoesNotWarnOfClocksThatAgree) {
  start();
  const auto content = finish();
  EXPECT_FALSE(content.rows.counters.empty());
  EXPECT_TRUE(content.rows.log.empty());
}

TEST_F(CuptiSourceTest, TakesTheReadingWithTheShortestRoundTrip) {
  static int calls = 0;
  calls = 0;
  api_.get_timestamp = [](std::uint64_t* time) {
    *time = static_cast<std::uint64_t>(Recorder::now_ns() + 1'000'000);
    if (++calls != 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return CUPTI_SUCCESS;
  };
  const auto clock = measure_clock_offset(api_);
  ASSERT_TRUE(clock);
  EXPECT_EQ(calls, 5);
  EXPECT_LT(clock->error_ns, 10'000'000);
  EXPECT_NEAR(static_cast<double>(clock->offset_ns), 1e6, static_cast<double>(clock->error_ns) + 1);
}

TEST_F(CuptiSourceTest, SaysWhatIsInTheWayAndHowToRemoveIt) {
  const std::pair<CUptiResult, const char*> cases[] = {
      {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "nsys"},
      {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "NVreg_RestrictProfilingToAdminUsers=0"},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "enable_profiling"},
      {CUPTI_ERROR_UNKNOWN, "shardlens doctor"},
  };
  for (const auto& [result, advice] : cases) {
    cupti_.refuse = {{CUPTI_ACTIVITY_KIND_MEMSET, result}};
    const auto started = CuptiSource::start(run_.recorder(), options_);
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message.find(advice), std::string::npos) << started.error().message;
    EXPECT_NE(started.error().message.find("(" + std::to_string(result) + ")"), std::string::npos);
    EXPECT_TRUE(cupti_.enabled.empty()) << "all or nothing";
    EXPECT_TRUE(cupti_.enabled_calls.empty());
    EXPECT_TRUE(cupti_.enabled_runtime_calls.empty());
  }
  cupti_.refuse = {};
  start();
}

TEST_F(CuptiSourceTest, GoesOnWithoutWhatIsNotNeeded) {
  cupti_.refuse = {{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ERROR_NOT_SUPPORTED}};
  start();
  const auto content = finish();
  ASSERT_EQ(content.rows.log.size(), 1u);
  EXPECT_NE(content.rows.log[0].text.find("does not record waits for the GPU"), std::string::npos);
}

// cuptiActivityEnableDriverApi came with CUDA 12.5; all driver calls would cost too much.
TEST_F(CuptiSourceTest, GoesOnWithoutLaunchCallsWhereAnOlderCuptiCannotChooseThem) {
  cupti_.version = 22;
  api_.enable_driver_api = nullptr;
  api_.enable_runtime_api = nullptr;
  start();
  const std::int64_t now = Recorder::now_ns();
  cupti_.add(kernel_record(1, "_Z4gemmPf", now, now + 10));
  const auto content = finish();
  EXPECT_EQ(events_of(content, EventKind::kKernel).size(), 1u);
  ASSERT_EQ(content.rows.log.size(), 1u);
  EXPECT_NE(content.rows.log[0].text.find("does not record launch calls: its CUPTI is older"),
            std::string::npos)
      << content.rows.log[0].text;
}

TEST_F(CuptiSourceTest, GoesOnWithoutARuntimeCallThatAnOlderCuptiDoesNotKnow) {
  cupti_.first_unknown_runtime_call = CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000;
  start();
  EXPECT_EQ(cupti_.enabled_runtime_calls.size(), 8u);
  EXPECT_TRUE(finish().rows.log.empty());
}

TEST_F(CuptiSourceTest, RefusesVersionsWhoseRecordsItDoesNotKnow) {
  for (const std::uint32_t version : {17u, 100u, 140'000u}) {
    cupti_.version = version;
    const auto started = CuptiSource::start(run_.recorder(), options_);
    ASSERT_FALSE(started) << version;
    EXPECT_NE(started.error().message.find("API version " + std::to_string(version)),
              std::string::npos);
    EXPECT_TRUE(cupti_.enabled.empty());
  }
  for (const std::uint32_t version : {18u, 28u, 130'000u, 130'101u}) {
    cupti_.version = version;
    start();
    source_.reset();
  }
}

TEST_F(CuptiSourceTest, IsOnePerProcess) {
  start();
  const auto second = CuptiSource::start(run_.recorder(), options_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("one CuptiSource per process"), std::string::npos);
}

TEST_F(CuptiSourceTest, MarksNothingWhileItDoesNotRun) {
  CuptiSource::begin_launch(1);
  CuptiSource::end_launch();
  EXPECT_TRUE(cupti_.pushed.empty());
}

}  // namespace
}  // namespace shardlens::profiler
