#include "profiler/nvml/nvml_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "tests/profiler/nvml/fake_nvml_library.h"
#include "tests/profiler/recorded_run.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::profiler::nvml {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kBus = "00000000:1B:00.0";

// Until the sampler has gone through its questions so often. The last of them is PCIe.
void wait_for_rounds(test::FakeNvmlLibrary& fake, int rounds) {
  for (int i = 0; i < 5'000; ++i) {
    {
      const std::lock_guard lock(fake.state().mutex);
      if (fake.state().pcie_reads >= 2 * rounds) return;
    }
    std::this_thread::sleep_for(1ms);
  }
  FAIL() << "the sampler stands still";
}

TEST(NvmlSampler, WritesTheCountersOfItsGpuIntoTheTrace) {
  test::FakeNvmlLibrary fake;
  fake.state().gpus = {{.bus = "00000000:AA:00.0", .milliwatts = 1}, {.bus = kBus}};
  RecordedRun run;
  {
    const auto library = NvmlLibrary::open(fake.path());
    ASSERT_TRUE(library);
    const auto sampler = NvmlSampler::start(run.recorder(), *library, kBus, 2ms);
    ASSERT_TRUE(sampler) << sampler.error().message;
    wait_for_rounds(fake, 3);
  }
  const auto content = run.finish();
  std::set<std::string> names;
  int powers = 0;
  std::int64_t before = 0;
  for (const auto& row : content.rows.counters) {
    names.insert(content.text(row.name));
    EXPECT_GE(row.time_ns, before);
    before = row.time_ns;
    if (content.text(row.name) != trace::model::kGpuPower) continue;
    ++powers;
    EXPECT_EQ(content.text(row.unit), "W");
    EXPECT_DOUBLE_EQ(row.value, 512.3);
  }
  EXPECT_GE(powers, 3);
  EXPECT_EQ(names.size(), 11u) << "all but NVLink's two";
  EXPECT_TRUE(content.rows.log.empty());
}

TEST(NvmlSampler, LogsACounterThatIsLostAndGoesOnWithTheOthers) {
  test::FakeNvmlLibrary fake;
  RecordedRun run;
  {
    const auto library = NvmlLibrary::open(fake.path());
    const auto sampler = NvmlSampler::start(run.recorder(), *library, kBus, 2ms);
    ASSERT_TRUE(sampler);
    wait_for_rounds(fake, 2);
    fake.change([](test::FakeGpu& gpu) { gpu.refusals["GetTemperature"] = 15; });
    int rounds = 0;
    fake.change([&](test::FakeGpu&) { rounds = fake.state().pcie_reads / 2; });
    wait_for_rounds(fake, rounds + 3);
  }
  const auto content = run.finish();
  ASSERT_EQ(content.rows.log.size(), 1u);
  EXPECT_THAT(content.rows.log[0].text, HasSubstr("\"GPU temperature\" is no longer sampled"));
  EXPECT_THAT(content.rows.log[0].text, HasSubstr("GPU is lost"));
}

TEST(NvmlSampler, NamesTheGpuThatTheDriverDoesNotKnow) {
  test::FakeNvmlLibrary fake;
  RecordedRun run;
  const auto library = NvmlLibrary::open(fake.path());
  const auto sampler = NvmlSampler::start(run.recorder(), *library, "00000000:99:00.0");
  ASSERT_FALSE(sampler);
  EXPECT_THAT(sampler.error().message, HasSubstr("00000000:99:00.0"));
}

TEST(NvmlSampler, EndsAtOnceThoughItSamplesSeldom) {
  test::FakeNvmlLibrary fake;
  RecordedRun run;
  const auto library = NvmlLibrary::open(fake.path());
  auto sampler = NvmlSampler::start(run.recorder(), *library, kBus, std::chrono::hours(1));
  ASSERT_TRUE(sampler);
  wait_for_rounds(fake, 1);
  sampler->reset();  // an hour, if the wait could not be ended
}

}  // namespace
}  // namespace shardlens::profiler::nvml
