// Records a process that knows nothing of it, from its first work to its end. Its functions are
// called once each, by whichever thread CUDA, NVTX, NCCL or exit() is on.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/cupti/cupti_source.h"
#include "profiler/inject/device_watch.h"
#include "profiler/inject/range_recorder.h"
#include "profiler/inject/rank_identity.h"
#include "profiler/inject/steps/found_steps.h"
#include "profiler/inject/steps/stream_steps.h"
#include "profiler/nccl/nccl_plugin.h"
#include "profiler/process/fatal_signals.h"
#include "profiler/process/warning_tail.h"
#include "profiler/recorder/recorder.h"
#include "trace/base/result.h"

namespace shardlens::profiler::inject {

// What NCCL makes of the value of NCCL_DEBUG_FILE: %h is the host's name up to its first dot, %p
// the process, %% a percent sign (NCCL's ncclDebugInit and getHostName).
std::filesystem::path nccl_log_file(std::string_view pattern, std::string_view host, int process);

struct ProcessOptions {
  std::filesystem::path run_folder;
  trace::job::RecordSchedule schedule;
  std::int64_t size_limit_bytes = INT64_MAX;
  std::filesystem::path nccl_log;  // where NCCL writes its warnings; empty: not known
};
// From the variables that `shardlens record` sets; none where they are not set: then nothing is
// recorded. Errors: variables that make no sense.
trace::base::Result<std::optional<ProcessOptions>> process_options(const VariableLookup& lookup);

class ProcessRecorder {
 public:
  // Claims the rank; `known`: what is told of it.
  static trace::base::Result<std::unique_ptr<ProcessRecorder>> start(
      const ProcessOptions& options, const std::optional<RankIdentity>& known);
  ~ProcessRecorder();  // as finish()

  // Before CUDA's first call: CUPTI holds what it records until watch_gpu(). A failure is told
  // there.
  static void prepare_gpu();
  // CUDA starts, or has started.
  void watch_gpu();
  RangeRecorder& ranges() { return ranges_; }
  // Takes in what is under way and closes the file. A warning on standard error if that fails.
  void finish();

 private:
  ProcessRecorder(std::unique_ptr<recorder::Recorder> recorder, const RankIdentity& identity,
                  const ProcessOptions& options);
  void start_gpu_activity();
  void note_gpu_use(std::uint32_t device);
  void save_before_death();
  trace::base::Result<void> stop_recorder(bool has_all);
  void check_nccl_plugin(std::string_view kernel);
  std::string sources() const;

  std::unique_ptr<recorder::Recorder> recorder_;
  const RankIdentity identity_;
  const std::filesystem::path run_folder_;
  FoundSteps steps_;
  RangeRecorder ranges_;
  StreamSteps streams_;  // the thread that takes in CUPTI's records
  DeviceWatch device_;
  std::unique_ptr<cupti::CuptiSource> gpu_activity_;
  std::unique_ptr<nccl::NcclPlugin> nccl_plugin_;
  std::unique_ptr<process::FatalSignals> fatal_signals_;
  std::string gpu_problem_;  // why there is none
  std::unique_ptr<process::WarningTail> nccl_warnings_;
  std::atomic<bool> has_gpu_activity_{false};  // a kernel ran
  bool has_nccl_kernels_ = false;              // one of NCCL's, which told of no communicator
  bool is_finished_ = false;
};

}  // namespace shardlens::profiler::inject
