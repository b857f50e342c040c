// One rank's work from the first thread to the last commit: recorder, text, model, other ranks,
// training. The main thread.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trace/model/rank_outcome.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/token_dataset.h"
#include "trainer/evaluate/sample_writer.h"
#include "trainer/huggingface/folder_source.h"
#include "trainer/loop/rank_log.h"
#include "trainer/loop/train_loop.h"
#include "trainer/model/layers/model_shape.h"
#include "trainer/model/model.h"
#include "trainer/rank/rank_device.h"
#include "trainer/rank/rank_sources.h"
#include "trainer/rank/run_agreement.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::rank {

class RankJob {
 public:
  // Called by a thread that sees that the training thread waits in vain; ends the process.
  using OnHang = std::function<void(RankJob& job, const trace::base::Error& error)>;

  RankJob(const AgreedRun& run, const RankPlace& environment, const std::atomic<int>& stop_signal,
          OnHang on_hang);
  ~RankJob();

  // A stop while the text is prepared is no failure: nothing was trained.
  trace::base::Result<loop::TrainOutcome> run();
  // Instead of run(): connects as for a training, and measures for so long what collectives cost.
  trace::base::Result<loop::TrainOutcome> calibrate(double seconds);
  // Writes everything that was recorded, with the failure if there was one. After a failure the
  // process must leave without destroying the job: other threads may still wait inside c10d.
  trace::base::Result<void> finish(const trace::base::Error* failure);
  // Instead of finish(), for OnHang: writes what was recorded without waiting for other threads.
  void save_in_haste(const trace::base::Error& failure);
  // Whether the other ranks have met this one.
  bool is_connected() const { return communicator_ != nullptr; }
  // As far as it is known now; whole after finish().
  trace::model::RankOutcome outcome() const;

 private:
  trace::base::Result<void> prepare_process();
  trace::base::Result<void> prepare_training();
  void tell(std::int64_t steps, std::int64_t steps_total);
  void tell_piece_saved();
  trace::base::Result<void> start_recorder();
  void describe_gpu(trace::model::RankInfo& info);
  trace::base::Result<void> open_model_folder();
  trace::base::Result<void> load_text();
  void tell_preparing();
  void tell_made_run();
  bool is_single_machine() const;
  trace::base::Result<void> connect();
  void report_hang(const comm::CollectiveTimeout& timeout);
  trace::base::Result<void> build_replicas();
  void tell_new_head();

  const trace::job::Settings settings_;
  const AgreedRun run_;
  const RankPlace environment_;
  const std::atomic<int>& stop_signal_;
  const OnHang on_hang_;

  trace::model::RankOutcome outcome_;
  RankDevice device_;
  const cuda::CudaPart* cuda_ = nullptr;  // on a GPU
  GpuFacts gpu_;                          // where `device_` is one
  model::ModelShape shape_;
  std::optional<huggingface::FolderSource> model_folder_;  // until the model has its values
  std::vector<std::string> fresh_;    // parameters that the folder does not have
  std::int64_t folder_checksum_ = 0;  // of what it has
  // In order of creation; destroyed the other way round.
  std::unique_ptr<profiler::recorder::Recorder> recorder_;
  loop::RankLog log_{nullptr};
  std::unique_ptr<RankSources> sources_;
  std::optional<evaluate::SampleText> sample_text_;  // until the training begins
  std::optional<data::TokenDataset> dataset_;
  std::filesystem::path tokenizer_;        // that the text was encoded with; empty: bytes
  c10::intrusive_ptr<c10d::Store> store_;  // if ranks met before they connected, and until then
  std::chrono::steady_clock::time_point next_telling_;
  std::unique_ptr<comm::Communicator> communicator_;
  std::optional<checkpoint::SharedWork> reading_;  // while ranks read the model's folder together
  std::shared_ptr<model::Model> model_;
  std::unique_ptr<strategy::Strategy> strategy_;
};

}  // namespace shardlens::trainer::rank
