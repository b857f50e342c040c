// Launches collectives on NCCL at once, in the caller's stream order, and watches for their end so
// that a hang shows which one is pending, and says so before LibTorch's watchdog ends the process.
// True times come from CUPTI, what was observed here counts only without them; NCCL's profiler
// plugin says which kernel is which collective's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "profiler/recorder/recorder.h"
#include "trainer/comm/collective_description.h"
#include "trainer/comm/collective_executor.h"

namespace shardlens::trainer::comm {

struct NcclExecutorOptions {
  torch::Device device = torch::kCPU;
  int world_rank = 0;
  std::string lane_suffix;  // tells the lanes of several groups apart
  // The recorder learns from CUPTI when the kernels ran of which NCCL's plugin tells, if NCCL has
  // taken it.
  bool records_kernels = false;
  // How long a collective may be the next one to end before `on_timeout` is told, by a thread of
  // the executor's; null: nobody is.
  std::chrono::milliseconds timeout{0};
  OnCollectiveTimeout on_timeout;
  // Gives what is watched instead of a collective's work; see cuda::CudaPart. Null: the work
  // itself.
  c10::intrusive_ptr<c10d::Work> (*without_tensors)(const c10::intrusive_ptr<c10d::Work>&) =
      nullptr;
};

class NcclExecutor final : public CollectiveExecutor {
 public:
  NcclExecutor(c10::intrusive_ptr<c10d::Backend> nccl, profiler::recorder::Recorder& recorder,
               NcclExecutorOptions options);
  ~NcclExecutor() override;

  c10::intrusive_ptr<c10d::Work> submit(CollectiveJob job) override;
  void close() override;

 private:
  struct Watched {
    CollectiveDescription description;
    std::uint64_t handle = 0;
    std::int64_t enqueued_ns = 0;
    std::int64_t step = -1;  // in which it was asked for
    trace::base::Phase phase = trace::base::Phase::kOther;
    c10::intrusive_ptr<c10d::Work> work;
  };

  void watch(std::stop_token stop);
  // Waits for the collective's end and records it, unless it failed or did not come in time. Throws
  // what CUDA reports.
  void follow(const Watched& watched, const std::stop_token& stop, std::int64_t& previous_end_ns);
  std::chrono::microseconds poll_interval() const;
  // Whether the collective ended.
  bool await(const Watched& watched, const std::stop_token& stop) const;

  c10::intrusive_ptr<c10d::Backend> nccl_;
  profiler::recorder::Recorder& recorder_;
  const NcclExecutorOptions options_;
  int lane_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Watched> watched_;
  std::jthread thread_;
};

}  // namespace shardlens::trainer::comm
