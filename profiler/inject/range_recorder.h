// Records NVTX ranges: each as an event on a lane of its thread and domain, and those of the thread
// that trains as steps and phases. Any thread; push and pop of one range on the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/inject/steps/found_steps.h"
#include "profiler/inject/steps/range_steps.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::inject {

class RangeRecorder {
 public:
  RangeRecorder(recorder::Recorder& recorder, FoundSteps& steps);

  // A domain's number, by its name; 0 is the default domain. Ranges of libraries (NCCL, cuBLAS, …)
  // tell no steps.
  int domain(std::string_view name);

  // As nvtxRangePush and Pop: the depth of the range, from 0; negative: nothing was open.
  int push(int domain, std::string_view name);
  int pop(int domain);
  // As nvtxRangeStart and End, on any thread.
  std::uint64_t start(int domain, std::string_view name);
  void end(std::uint64_t range);

  // Nothing more comes: the last step is told.
  void finish();

 private:
  struct ThreadRanges;
  struct Started {
    int domain = 0;
    trace::model::StringId name = 0;
    std::int64_t start_ns = 0;
  };
  ThreadRanges& of_this_thread();
  trace::model::StringId name_id(std::string_view name);
  int lane_of(ThreadRanges& thread, int domain);
  static std::uint64_t place_of(const ThreadRanges& thread, int domain);
  void look_for_training(const ThreadRanges& thread, int domain, std::string_view name);
  bool trains(const ThreadRanges& thread, int domain) const;
  void add_event(int lane, trace::model::StringId name, std::int64_t start_ns, int depth);

  recorder::Recorder& recorder_;
  FoundSteps::Finder finder_, guesses_;
  const std::uint64_t id_;
  std::atomic<std::uint64_t> training_{0};    // thread and domain of the steps; 0: none yet
  std::atomic<bool> has_found_steps_{false};  // there: it stays
  std::atomic<std::size_t> names_{0};
  std::atomic<std::uint64_t> next_range_{1};

  std::mutex mutex_;  // guards what follows
  RangeSteps steps_;
  bool is_finished_ = false;
  std::map<std::string, int, std::less<>> domains_;
  std::unordered_map<std::uint64_t, Started> started_;
  int started_lane_ = -1;
};

}  // namespace shardlens::profiler::inject
