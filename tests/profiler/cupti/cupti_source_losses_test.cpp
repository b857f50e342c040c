// What CUPTI tells and the recorder cannot keep, and when it gets no buffer to tell it in.
#include <gtest/gtest.h>

#include "tests/profiler/cupti/cupti_source_fixture.h"

namespace shardlens::profiler::cupti {
namespace {

using trace::model::EventKind;

using CuptiLossesTest = CuptiSourceFixture;

TEST_F(CuptiLossesTest, CountsWhatItCannotKeep) {
  start();
  CUpti_Activity of_the_future{};
  of_the_future.kind = static_cast<CUpti_ActivityKind>(999);
  cupti_.add(of_the_future);
  const std::int64_t now = recorder::Recorder::now_ns();
  cupti_.add(kernel_record(1, "_Z4gemmPf", 0, now));
  cupti_.add(kernel_record(2, "_Z4gemmPf", now, now - 1));
  cupti_.dropped = 12;
  const auto content = finish();
  EXPECT_EQ(content.lost("CUPTI record of an unknown kind"), 1);
  EXPECT_EQ(content.lost("CUPTI record without true times"), 2);
  EXPECT_EQ(content.lost("CUPTI dropped records"), 12);
  EXPECT_TRUE(events_of(content, EventKind::kKernel).empty());
}

TEST_F(CuptiLossesTest, CountsBuffersThatItCouldNotGive) {
  options_.buffers = 2;
  start();
  cupti_.buffer_limit = 1;
  add_kernels(5);
  const auto content = finish();
  EXPECT_EQ(cupti_.refused_buffers, 1);
  EXPECT_EQ(content.lost("CUPTI had no buffer"), 1);
}

// Twice what the queue between the two threads holds of events, and more collectives than it holds
// of rows.
TEST_F(CuptiLossesTest, AFullPoolAtOnceLosesNothing) {
  options_ = {};
  options_.api = &api_;
  constexpr std::uint32_t kLaunches = 6'000;
  constexpr std::size_t kRecord = sizeof(CUpti_ActivityKernel10) + 8;  // and its length
  const std::size_t per_buffer = CuptiBufferPool::kBufferBytes / kRecord;
  const auto fitting = static_cast<std::uint32_t>((options_.buffers - 3) * per_buffer);
  start();
  auto& recorder = run_.recorder();
  const std::int64_t now = recorder::Recorder::now_ns();
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    recorder.wait_for_room();
    const auto handle = recorder.enter_collective(bucket_call(static_cast<int>(i)));
    recorder.launch_collective(handle, {.launch = i + 1});
  }
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    cupti_.add(external_record(i + 1, i + 1));
    cupti_.add(
        kernel_record(i + 1, "_Z23ncclDevKernel_AllReduceP11ncclDevComm", now + i, now + i + 1));
  }
  const std::uint32_t kernels = fitting - kLaunches - kLaunches / 2;
  ASSERT_GT(kernels, 100'000u);
  for (std::uint32_t i = 0; i < kernels; ++i)
    cupti_.add(kernel_record(kLaunches + i + 1, "_Z4gemmPf", now + i, now + i + 1));
  const auto content = finish();
  for (const trace::model::Lost& row : content.rows.lost)
    ADD_FAILURE() << row.count << " lost: " << row.reason;
  EXPECT_EQ(events_of(content, EventKind::kKernel).size(), kernels + kLaunches);
  std::size_t with_times = 0;
  for (const auto& row : content.rows.collectives) with_times += row.end_ns > row.start_ns;
  EXPECT_EQ(with_times, kLaunches);
}

TEST_F(CuptiLossesTest, RefusesNoBufferWhereCuptiWouldCrash) {
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
  EXPECT_EQ(content.lost("CUPTI had no buffer"), 4) << "two of each version, while it recorded";
}

}  // namespace
}  // namespace shardlens::profiler::cupti
