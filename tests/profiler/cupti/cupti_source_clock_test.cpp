#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "profiler/cupti/cupti_source.h"
#include "tests/profiler/cupti/cupti_source_fixture.h"

namespace shardlens::profiler::cupti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using CuptiClockTest = CuptiSourceFixture;

TEST_F(CuptiClockTest, RecordsTheClocksOffsetAndWarnsOnceOfALargeOne) {
  cupti_.clock_offset_ns = 3'000'000;
  start();
  std::vector<double> offsets;
  const auto read_offsets = [&](const RecordedRun::Content& content) {
    offsets.clear();
    for (const trace::model::CounterSample& sample : content.rows.counters)
      if (content.text(sample.name) == "GPU clock offset") {
        EXPECT_EQ(content.text(sample.unit), "ns");
        offsets.push_back(sample.value);
      }
    return offsets.size();
  };
  EXPECT_TRUE(run_.within_a_minute([&] { return read_offsets(run_.read()) >= 2; }))
      << "once per second";
  const auto content = finish();
  read_offsets(content);
  for (const double offset : offsets) EXPECT_NEAR(offset, 3e6, 1e6);
  EXPECT_THAT(content.log(), ElementsAre(HasSubstr("GPU's clock differs")));
}

TEST_F(CuptiClockTest, DoesNotWarnOfClocksThatAgree) {
  start();
  const auto content = finish();
  EXPECT_FALSE(content.rows.counters.empty());
  EXPECT_TRUE(content.rows.log.empty());
}

TEST_F(CuptiClockTest, TakesTheReadingWithTheShortestRoundTrip) {
  static int calls = 0;
  calls = 0;
  api_.get_timestamp = [](std::uint64_t* time) {
    *time = static_cast<std::uint64_t>(recorder::Recorder::now_ns() + 1'000'000);
    if (++calls != 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return CUPTI_SUCCESS;
  };
  const auto clock = cupti_clock_offset(api_);
  ASSERT_TRUE(clock);
  EXPECT_EQ(calls, 5);
  EXPECT_LT(clock->error_ns, 10'000'000);
  EXPECT_NEAR(static_cast<double>(clock->offset_ns), 1e6, static_cast<double>(clock->error_ns) + 1);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
