#include "profiler/nvml/gpu_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/profiler/nvml/fake_nvml_library.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::profiler::nvml {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class GpuCountersTest : public testing::Test {
 protected:
  GpuCounters make() {
    auto library = NvmlLibrary::open(fake_.path());
    EXPECT_TRUE(library);
    const auto device = (*library)->device(0);
    return {*library, *device, [this] { return now_ns_; }};
  }
  // By name: value and unit.
  std::map<std::string, std::pair<double, std::string>> read(GpuCounters& counters) {
    std::map<std::string, std::pair<double, std::string>> seen;
    counters.read({[&](const CounterReading& reading) {
                     seen[std::string(reading.name)] = {reading.value, std::string(reading.unit)};
                     EXPECT_EQ(reading.time_ns, now_ns_);
                   },
                   [&](std::string_view name, int status) {
                     lost_.emplace_back(std::string(name), status);
                   }});
    return seen;
  }

  test::FakeNvmlLibrary fake_;
  std::int64_t now_ns_ = 1'000'000'000;
  std::vector<std::pair<std::string, int>> lost_;
};

using Reading = std::pair<double, std::string>;

TEST_F(GpuCountersTest, ReadsEverythingInTheUnitsOfItsNames) {
  fake_.gpu().clock_limits = trace::model::kLimitPowerCap | trace::model::kLimitIdle;
  GpuCounters counters = make();
  auto seen = read(counters);
  EXPECT_EQ(seen[std::string(trace::model::kGpuUtilization)], Reading(97, "%"));
  EXPECT_EQ(seen[std::string(trace::model::kMemoryUtilization)], Reading(41, "%"));
  EXPECT_EQ(seen[std::string(trace::model::kGpuPower)], Reading(512.3, "W"));
  EXPECT_EQ(seen[std::string(trace::model::kPowerLimit)], Reading(700, "W"));
  EXPECT_EQ(seen[std::string(trace::model::kSmClock)], Reading(1755, "MHz"));
  EXPECT_EQ(seen[std::string(trace::model::kMemoryClock)], Reading(2619, "MHz"));
  EXPECT_EQ(seen[std::string(trace::model::kGpuTemperature)], Reading(64, "°C"));
  EXPECT_EQ(seen[std::string(trace::model::kDeviceMemory)], Reading(21'474'836'480, "bytes"));
  EXPECT_EQ(seen[std::string(trace::model::kPcieReceived)], Reading(5e6, "bytes/s"));
  EXPECT_EQ(seen[std::string(trace::model::kPcieSent)], Reading(3e6, "bytes/s"));
  EXPECT_EQ(seen[std::string(trace::model::kClockLimits)], Reading(5, "set"));
  for (const auto& [name, reading] : seen) {
    EXPECT_GE(trace::model::gpu_counter_place(name), 0) << name << " has no place in the timeline";
  }
}

TEST_F(GpuCountersTest, NvlinkIsARateBetweenTwoReadings) {
  fake_.gpu().nvlink_versions.assign(18, 6);
  fake_.gpu().nvlink_received = 1'000'000;
  fake_.gpu().nvlink_sent = 500;
  GpuCounters counters = make();
  EXPECT_FALSE(read(counters).contains(std::string(trace::model::kNvlinkReceived)));
  now_ns_ += 200'000'000;
  fake_.gpu().nvlink_received += 1'048'576;  // 1 GiB in a fifth of a second
  auto seen = read(counters);
  EXPECT_EQ(seen[std::string(trace::model::kNvlinkReceived)], Reading(5'368'709'120, "bytes/s"));
  EXPECT_EQ(seen[std::string(trace::model::kNvlinkSent)], Reading(0, "bytes/s"));
}

TEST_F(GpuCountersTest, ACounterThatWasResetGivesNoRateOnce) {
  fake_.gpu().nvlink_versions.assign(1, 6);
  fake_.gpu().nvlink_received = 5'000;
  GpuCounters counters = make();
  read(counters);
  now_ns_ += 1'000'000'000;
  fake_.gpu().nvlink_received = 7;
  EXPECT_FALSE(read(counters).contains(std::string(trace::model::kNvlinkReceived)));
  now_ns_ += 1'000'000'000;
  fake_.gpu().nvlink_received = 9;
  EXPECT_EQ(read(counters)[std::string(trace::model::kNvlinkReceived)], Reading(2048, "bytes/s"));
}

TEST_F(GpuCountersTest, WhatADeviceDoesNotAnswerIsAskedOnceAndNotReported) {
  fake_.gpu().refusals["GetPcieThroughput"] = kNvmlNotSupported;
  GpuCounters counters = make();
  EXPECT_FALSE(read(counters).contains(std::string(trace::model::kPcieSent)));
  EXPECT_FALSE(read(counters).contains(std::string(trace::model::kNvlinkSent))) << "no links";
  EXPECT_THAT(lost_, IsEmpty());
  fake_.gpu().refusals.clear();
  fake_.gpu().nvlink_versions.assign(2, 6);
  now_ns_ += 1;
  const auto seen = read(counters);
  EXPECT_FALSE(seen.contains(std::string(trace::model::kPcieSent)));
  EXPECT_FALSE(seen.contains(std::string(trace::model::kNvlinkSent)));
  EXPECT_EQ(fake_.state().pcie_reads, 0);
}

TEST_F(GpuCountersTest, WhatFailsAfterItWorkedIsReportedOnce) {
  GpuCounters counters = make();
  read(counters);
  fake_.gpu().refusals["GetPowerUsage"] = 15;
  EXPECT_FALSE(read(counters).contains(std::string(trace::model::kGpuPower)));
  read(counters);
  EXPECT_THAT(lost_, ElementsAre(Pair(std::string(trace::model::kGpuPower), 15)));
}

TEST_F(GpuCountersTest, NothingIsLeftOfADeviceThatAnswersNothing) {
  for (const char* function :
       {"GetUtilizationRates", "GetMemoryInfo", "GetPowerUsage", "GetEnforcedPowerLimit",
        "GetClockInfo", "GetTemperature", "GetCurrentClocksEventReasons", "GetPcieThroughput"}) {
    fake_.gpu().refusals[function] = kNvmlNotSupported;
  }
  GpuCounters counters = make();
  EXPECT_TRUE(counters.any_left()) << "nothing was tried yet";
  EXPECT_THAT(read(counters), IsEmpty());
  EXPECT_FALSE(counters.any_left());
}

}  // namespace
}  // namespace shardlens::profiler::nvml
