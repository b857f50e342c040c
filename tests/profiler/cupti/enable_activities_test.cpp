#include "profiler/cupti/enable_activities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "tests/profiler/cupti/cupti_source_fixture.h"

namespace shardlens::profiler::cupti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using EnableActivitiesTest = CuptiSourceFixture;

TEST_F(EnableActivitiesTest, EnablesOnlyWhatIsCheap) {
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
TEST_F(EnableActivitiesTest, AsksForOneOrderOverAllThreadsAndClearsBuffersItself) {
  start();
  EXPECT_EQ(cupti_.attributes, (std::map<CUpti_ActivityAttribute, int>{
                                   {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0},
                                   {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1}}));
}

TEST_F(EnableActivitiesTest, SaysWhatIsInTheWayAndHowToRemoveIt) {
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

TEST_F(EnableActivitiesTest, GoesOnWithoutWhatIsNotNeeded) {
  cupti_.refuse = {{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ERROR_NOT_SUPPORTED}};
  start();
  const auto content = finish();
  EXPECT_THAT(content.log(), ElementsAre(HasSubstr("does not record waits for the GPU")));
}

// cuptiActivityEnableDriverApi came with CUDA 12.5; all driver calls would cost too much.
TEST_F(EnableActivitiesTest, GoesOnWithoutLaunchCallsWhereAnOlderCuptiCannotChooseThem) {
  cupti_.version = 22;
  api_.enable_driver_api = nullptr;
  api_.enable_runtime_api = nullptr;
  start();
  add_kernels(1);
  const auto content = finish();
  EXPECT_EQ(events_of(content, trace::model::EventKind::kKernel).size(), 1u);
  EXPECT_THAT(
      content.log(),
      ElementsAre(HasSubstr("does not record launch calls (CUPTI of CUDA 12.5 or newer does)")));
}

TEST_F(EnableActivitiesTest, GoesOnWithoutARuntimeCallThatAnOlderCuptiDoesNotKnow) {
  cupti_.first_unknown_runtime_call = CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000;
  start();
  EXPECT_EQ(cupti_.enabled_runtime_calls.size(), 8u);
  EXPECT_TRUE(finish().rows.log.empty());
}

TEST_F(EnableActivitiesTest, RefusesVersionsWhoseRecordsItDoesNotKnow) {
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

}  // namespace
}  // namespace shardlens::profiler::cupti
