// Launches collectives on NCCL at once, in the caller's stream order, and watches for their end so
// that a hang shows which one is pending. True times come from CUPTI, what was observed here counts
// only without them; NCCL's profiler plugin says which kernel is which collective's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "profiler/recorder.h"
#include "trainer/comm/collective_executor.h"

namespace shardlens::trainer {

class NcclExecutor final : public CollectiveExecutor {
 public:
  NcclExecutor(c10::intrusive_ptr<c10d::Backend> nccl, torch::Device device,
               profiler::Recorder& recorder, const std::string& lane_suffix);
  ~NcclExecutor() override;

  c10::intrusive_ptr<c10d::Work> submit(CollectiveJob job) override;
  void close() override;

 private:
  struct Watched {
    std::uint64_t handle = 0;
    std::int64_t enqueued_ns = 0;
    c10::intrusive_ptr<c10d::Work> work;
  };

  void watch(std::stop_token stop);
  // Waits for the collective's end and records it, unless it failed. Throws what CUDA reports.
  void follow(const Watched& watched, const std::stop_token& stop, std::int64_t& previous_end_ns);

  c10::intrusive_ptr<c10d::Backend> nccl_;
  torch::Device device_;
  profiler::Recorder& recorder_;
  int lane_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Watched> watched_;
  std::jthread thread_;
};

// NCCL on `device` for this rank; with `high_priority` a collective does not queue behind the
// kernels that it overlaps. Throws c10::Error.
c10::intrusive_ptr<c10d::Backend> create_nccl(const c10::intrusive_ptr<c10d::Store>& store,
                                              int rank, int world_size, torch::Device device,
                                              std::chrono::milliseconds timeout,
                                              bool high_priority);

}  // namespace shardlens::trainer
