// The process into which CUDA or NVTX has loaded us. It is recorded from its first work on: a range
// of its own, a communicator of NCCL, or something that a GPU does for it. Many processes only ask
// which GPUs there are. Some of them, started by a rank, have its RANK in their environment: they
// must not be recorded as that rank. Any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "profiler/inject/first_work.h"
#include "profiler/inject/process_recorder.h"

namespace shardlens::profiler::inject {

class InjectedProcess {
 public:
  // nullptr: nothing is recorded here, or no longer; standard error has said why, once, if it is a
  // failure. It is finished at exit() and never destroyed. A child made by fork() records nothing.
  static InjectedProcess* current();

  // CUDA starts: before its first call.
  void start_cuda();
  // NCCL tells of a communicator.
  void enter(const nccl::CommunicatorPlace& place);
  // Where ranges go. nullptr: nowhere.
  RangeRecorder* ranges() {
    ProcessRecorder* recorder = recorder_.load(std::memory_order_acquire);
    return recorder == nullptr ? nullptr : &recorder->ranges();
  }
  // As ranges(); the first call begins the recording.
  RangeRecorder* ranges_of_work();

 private:
  InjectedProcess(ProcessOptions options, std::optional<RankIdentity> known, bool is_worker);
  static trace::base::Result<std::unique_ptr<InjectedProcess>> make();
  static void finish_at_exit();
  // `is_last`: no communicator will come.
  ProcessRecorder* record(const std::optional<RankIdentity>& known, bool is_last = false);
  void finish();

  const ProcessOptions options_;
  const std::optional<RankIdentity> known_;  // by a launcher
  const bool is_worker_;                     // of multiprocessing: NCCL may know more
  std::atomic<ProcessRecorder*> recorder_{nullptr};
  // It works, and another has the place that the variables name.
  std::atomic<bool> waits_for_communicator_{false};
  std::mutex mutex_;  // guards what follows
  bool uses_cuda_ = false;
  std::unique_ptr<FirstWork> first_work_;
};

}  // namespace shardlens::profiler::inject
