// One rank's work from the first thread to the last commit: recorder, text, model, other ranks,
// training. The main thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "profiler/cupti/cupti_source.h"
#include "profiler/fatal_signals.h"
#include "profiler/memory_sampler.h"
#include "profiler/nccl/nccl_plugin.h"
#include "profiler/nvml/nvml_sampler.h"
#include "profiler/recorder.h"
#include "profiler/torch/torch_sources.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/block_dataset.h"
#include "trainer/gpu_facts.h"
#include "trainer/model/decoder_model.h"
#include "trainer/rank_device.h"
#include "trainer/rank_log.h"
#include "trainer/run_agreement.h"
#include "trainer/strategy/strategy.h"
#include "trainer/train_loop.h"

namespace shardlens::trainer {

class RankJob {
 public:
  RankJob(const AgreedRun& run, const RankEnvironment& environment,
          const std::atomic<bool>& stop_requested);
  ~RankJob();

  trace::Result<TrainOutcome> run();
  // Writes everything that was recorded, with the failure if there was one. After a failure the
  // process must leave without destroying the job: other threads may still wait inside c10d.
  trace::Result<void> finish(const trace::Error* failure);

 private:
  trace::Result<void> prepare();
  trace::Result<void> start_recorder();
  void start_sources(bool has_detail);
  void start_gpu_sources(bool has_detail);
  void start_gpu_activity();
  void save_before_death();
  void describe_gpu(trace::RankInfo& info);
  void start_nvml_sampler();
  // Null where the settings want none.
  std::unique_ptr<profiler::AllocationRecorder> allocation_recorder();
  trace::Result<void> load_text();
  bool is_single_machine() const;
  trace::Result<void> connect();
  void check_nccl_plugin();
  trace::Result<void> build_replicas();

  const trace::Settings settings_;
  const AgreedRun run_;
  const RankEnvironment environment_;
  const std::atomic<bool>& stop_requested_;

  RankDevice device_;
  GpuFacts gpu_;  // where `device_` is one
  ModelShape shape_;
  // In order of creation; destroyed the other way round.
  std::unique_ptr<profiler::Recorder> recorder_;
  RankLog log_{nullptr};
  std::unique_ptr<profiler::CuptiSource> gpu_activity_;  // on a GPU, unless CUPTI refuses
  std::unique_ptr<profiler::NcclPlugin> nccl_plugin_;    // on a GPU
  std::unique_ptr<profiler::FatalSignals> fatal_signals_;
  std::unique_ptr<profiler::OperatorObserver> observer_;
  std::unique_ptr<profiler::MemorySampler> memory_sampler_;
  std::unique_ptr<profiler::NvmlSampler> nvml_sampler_;  // on a GPU, where NVML is
  std::optional<BlockDataset> dataset_;
  std::unique_ptr<Communicator> communicator_;
  std::shared_ptr<DecoderModel> model_;
  std::unique_ptr<Strategy> strategy_;
};

}  // namespace shardlens::trainer
