// What feeds a rank's recorder beside the training thread: operators, memory, and on a GPU its
// activity, NCCL's calls and counters. The thread that makes it.
#pragma once

#include <memory>
#include <string>

#include "profiler/cupti/cupti_source.h"
#include "profiler/memory/memory_sampler.h"
#include "profiler/nccl/nccl_plugin.h"
#include "profiler/nvml/nvml_sampler.h"
#include "profiler/process/fatal_signals.h"
#include "profiler/process/warning_tail.h"
#include "profiler/pytorch/torch_sources.h"
#include "profiler/recorder/recorder.h"
#include "trace/job/settings/settings.h"
#include "trainer/loop/rank_log.h"
#include "trainer/rank/rank_device.h"
#include "trainer/rank/rank_place.h"

namespace shardlens::trainer::rank {

class RankSources {
 public:
  struct Parts {
    profiler::recorder::Recorder& recorder;
    loop::RankLog& log;
    const trace::job::Settings& settings;
    const RankPlace& environment;
    RankDevice device;
    const GpuFacts& gpu;             // where `device` is one
    std::filesystem::path log_file;  // where this process's standard error goes, if it does
    bool has_detail = true;          // false: only steps, phases and memory
  };
  // Starts them all, on a GPU before its first call of CUDA, and names them in RankInfo::sources.
  // What cannot be had is logged.
  explicit RankSources(const Parts& parts);

  profiler::memory::MemorySampler& memory_sampler() { return *memory_sampler_; }
  // Whether NCCL's kernels are recorded, and which collective each carries, if NCCL takes the
  // plugin.
  bool records_nccl_kernels() const { return gpu_activity_ && nccl_plugin_; }
  // Once there is a communicator: whether NCCL has taken the plugin.
  void check_nccl_plugin() const;

  // Writes what was recorded and ends the recording, soon, whatever other threads wait for: the
  // process is about to end. Any thread.
  void save_in_haste();

  // In this order. Operators must not be let go while another thread may run one.
  void stop_sampling();
  void stop_operators() { observer_.reset(); }
  void stop_gpu_activity();

 private:
  void start_gpu();
  void start_gpu_activity();
  void start_nvml_sampler();
  void watch_fatal_signals();
  void flush_gpu_activity();
  std::string text() const;
  std::unique_ptr<profiler::memory::AllocationRecorder> allocation_recorder() const;

  const Parts parts_;
  std::unique_ptr<profiler::cupti::CuptiSource> gpu_activity_;  // on a GPU, unless CUPTI refuses
  std::unique_ptr<profiler::nccl::NcclPlugin> nccl_plugin_;     // on a GPU
  std::unique_ptr<profiler::process::FatalSignals> fatal_signals_;
  std::unique_ptr<profiler::pytorch::OperatorObserver> observer_;
  std::unique_ptr<profiler::memory::MemorySampler> memory_sampler_;
  std::unique_ptr<profiler::nvml::NvmlSampler> nvml_sampler_;  // on a GPU, where NVML is
  std::unique_ptr<profiler::process::WarningTail> warnings_;
};

}  // namespace shardlens::trainer::rank
