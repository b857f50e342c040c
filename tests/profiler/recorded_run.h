// A run in a temporary folder with one recorder, and everything that it wrote, read back. For
// tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "tests/files.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/batch_queue.h"

namespace shardlens::profiler {

class RecordedRun {
 public:
  explicit RecordedRun(recorder::RecorderOptions options = {}) {
    trace::model::RunInfo info;
    info.name = "recorded";
    info.world_size = 1;
    info.device = "cpu";
    const auto created = trace::store::create_run_at(folder_, info);
    EXPECT_TRUE(created) << created.error().message;
    options.file = trace::store::rank_file(folder_, 0);
    auto started = recorder::Recorder::start(std::move(options));
    EXPECT_TRUE(started) << started.error().message;
    recorder_ = std::move(*started);
  }
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  recorder::Recorder& recorder() { return *recorder_; }

  // Stops the recorder and reads the file: all rows in one batch, and the strings.
  struct Content {
    trace::model::Batch rows;
    trace::model::StringTable strings;
    std::string text(trace::model::StringId id) const { return std::string(strings.get(0, id)); }
    std::vector<std::string> log() const {
      std::vector<std::string> texts;
      for (const auto& line : rows.log) texts.push_back(line.text);
      return texts;
    }
    std::int64_t lost(std::string_view reason) const {
      std::int64_t count = 0;
      for (const auto& each : rows.lost) count += each.reason == reason ? each.count : 0;
      return count;
    }
  };
  Content finish() {
    const auto stopped = recorder_->stop();
    EXPECT_TRUE(stopped) << stopped.error().message;
    return read();
  }
  // Whether what was sent before is in the file.
  bool has_written_since(std::int64_t time_ns) const {
    const auto heartbeat = read().rows.heartbeat;
    return heartbeat && heartbeat->alive_ns > time_ns;
  }
  void wait_until_written() const {
    const std::int64_t now = recorder::Recorder::now_ns();
    EXPECT_TRUE(within_a_minute([&] { return has_written_since(now); }));
  }
  // True as soon as `condition()` holds.
  template <typename Condition>
  static bool within_a_minute(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  // What is in the file now.
  Content read() const {
    Content content;
    auto reader = trace::store::RunReader::open(folder_);
    EXPECT_TRUE(reader) << reader.error().message;
    if (!reader) return content;
    for (;;) {
      auto batches = (*reader)->poll();
      EXPECT_TRUE(batches) << batches.error().message;
      if (!batches || batches->empty()) return content;
      for (trace::model::Batch& batch : *batches) {
        for (const auto& string : batch.strings) content.strings.add(string);
        trace::store::append(content.rows, std::move(batch));
      }
    }
  }

 private:
  const trace::test::Folder parent_;
  const std::filesystem::path folder_ = parent_ / "run";
  std::unique_ptr<recorder::Recorder> recorder_;
};

inline queue::CollectiveCall bucket_call(int bucket) {
  queue::CollectiveCall call;
  call.function = call.executed = trace::model::CollectiveFunction::kAllReduce;
  call.sequence = bucket;
  call.tag_kind = trace::model::TagKind::kBucket;
  call.tag_index = bucket;
  call.bytes = 1 << 20;
  return call;
}

inline std::size_t event_count(const trace::model::Batch& rows) {
  std::size_t count = 0;
  for (const auto& run : rows.events) count += run.events.size();
  return count;
}

}  // namespace shardlens::profiler
