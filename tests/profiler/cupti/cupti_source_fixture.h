// A CuptiSource with a made-up CUPTI, and what is in the file afterwards. For tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/cupti/cupti_source.h"
#include "tests/profiler/cupti/activity_records.h"
#include "tests/profiler/cupti/fake_cupti.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::cupti {

class CuptiSourceFixture : public testing::Test {
 protected:
  CuptiSourceFixture() : api_(FakeCupti::api()) {
    options_.buffers = 4;
    options_.api = &api_;
  }
  void start() {
    auto started = CuptiSource::start(run_.recorder(), options_);
    ASSERT_TRUE(started) << started.error().message;
    source_ = std::move(*started);
  }
  // One after the other from now on.
  void add_kernels(std::uint32_t count) {
    const std::int64_t now = recorder::Recorder::now_ns();
    for (std::uint32_t i = 0; i < count; ++i)
      cupti_.add(kernel_record(next_correlation_++, "_Z4gemmPf", now + i, now + i + 1));
  }
  RecordedRun::Content finish() {
    source_.reset();
    return run_.finish();
  }
  static std::vector<trace::model::Event> events_of(const RecordedRun::Content& content,
                                                    trace::model::EventKind kind) {
    std::vector<trace::model::Event> events;
    for (const trace::model::EventRun& run : content.rows.events)
      if (run.kind == kind) events.insert(events.end(), run.events.begin(), run.events.end());
    return events;
  }
  static std::string lane_of(const RecordedRun::Content& content, trace::model::EventKind kind) {
    for (const trace::model::EventRun& run : content.rows.events) {
      if (run.kind != kind) continue;
      for (const trace::model::Lane& lane : content.rows.lanes)
        if (lane.id == run.lane) return content.text(lane.name);
    }
    return "";
  }

  FakeCupti cupti_;
  CuptiApi api_;
  CuptiOptions options_;
  RecordedRun run_;
  std::unique_ptr<CuptiSource> source_;

 private:
  std::uint32_t next_correlation_ = 1;
};

}  // namespace shardlens::profiler::cupti
