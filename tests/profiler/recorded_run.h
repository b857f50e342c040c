// A run in a temporary folder with one recorder, and everything that it wrote, read back. For
// tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "profiler/recorder/recorder.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::profiler {

class RecordedRun {
 public:
  explicit RecordedRun(recorder::RecorderOptions options = {}) {
    std::string pattern = (std::filesystem::temp_directory_path() / "recorded_run.XXXXXX").string();
    folder_ = std::filesystem::path(mkdtemp(pattern.data())) / "run";
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
  ~RecordedRun() {
    recorder_.reset();
    std::filesystem::remove_all(folder_.parent_path());
  }
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  recorder::Recorder& recorder() { return *recorder_; }

  // Stops the recorder and reads the file: all rows in one batch, and the strings.
  struct Content {
    trace::model::Batch rows;
    trace::model::StringTable strings;
    std::string text(trace::model::StringId id) const { return std::string(strings.get(0, id)); }
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
      for (trace::model::Batch& batch : *batches) append(std::move(batch), content);
    }
  }

 private:
  static void append(trace::model::Batch&& from, Content& content) {
    trace::model::Batch& to = content.rows;
    for (const auto& string : from.strings) content.strings.add(string);
    move_rows(from.lanes, to.lanes);
    move_rows(from.process_groups, to.process_groups);
    move_rows(from.steps, to.steps);
    move_rows(from.spans, to.spans);
    move_rows(from.collectives, to.collectives);
    move_rows(from.buckets, to.buckets);
    move_rows(from.bucket_ready, to.bucket_ready);
    move_rows(from.units, to.units);
    move_rows(from.unit_parameters, to.unit_parameters);
    move_rows(from.unit_ready, to.unit_ready);
    move_rows(from.evaluations, to.evaluations);
    move_rows(from.memory, to.memory);
    move_rows(from.counters, to.counters);
    move_rows(from.events, to.events);
    move_rows(from.log, to.log);
    move_rows(from.lost, to.lost);
    if (from.pending) to.pending = std::move(from.pending);
    if (from.heartbeat) to.heartbeat = from.heartbeat;
    if (from.cost) to.cost = from.cost;
    if (from.rank_info) to.rank_info = std::move(from.rank_info);
  }
  template <typename T>
  static void move_rows(std::vector<T>& from, std::vector<T>& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }

  std::filesystem::path folder_;
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
