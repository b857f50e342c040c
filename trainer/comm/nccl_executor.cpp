#include "trainer/comm/nccl_executor.h"

#include <algorithm>
#include <chrono>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <utility>

namespace shardlens::trainer {

namespace {

constexpr std::chrono::microseconds kPollInterval{500};
constexpr std::chrono::seconds kCloseGrace{2};

}  // namespace

c10::intrusive_ptr<c10d::Backend> create_nccl(const c10::intrusive_ptr<c10d::Store>& store,
                                              int rank, int world_size, torch::Device device,
                                              std::chrono::milliseconds timeout) {
  // High priority: a collective must not queue behind the kernels that it overlaps.
  auto options = c10d::ProcessGroupNCCL::Options::create(true);
  options->timeout = timeout;
  auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, world_size, options);
  nccl->setBoundDeviceId(device);
  return nccl;
}

NcclExecutor::NcclExecutor(c10::intrusive_ptr<c10d::Backend> nccl, profiler::Recorder& recorder)
    : nccl_(std::move(nccl)),
      recorder_(recorder),
      lane_(recorder.add_lane(trace::LaneKind::kCommunication, "nccl, as seen by the host")),
      thread_([this](std::stop_token stop) { watch(std::move(stop)); }) {}

NcclExecutor::~NcclExecutor() { close(); }

c10::intrusive_ptr<c10d::Work> NcclExecutor::submit(CollectiveJob job) {
  Watched watched{job.handle, profiler::Recorder::now_ns(), job.launch(*nccl_)};
  auto work = watched.work;
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back(std::move(watched));
  }
  changed_.notify_all();
  return work;
}

void NcclExecutor::close() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kCloseGrace, [this] { return watched_.empty(); });
  }
  thread_.request_stop();
  thread_.join();
  nccl_->shutdown();
}

void NcclExecutor::watch(std::stop_token stop) {
  std::int64_t previous_end_ns = 0;
  while (!stop.stop_requested()) {
    Watched next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !watched_.empty(); });
      if (watched_.empty()) return;
      next = watched_.front();
    }
    while (!next.work->isCompleted() && !stop.stop_requested()) {
      std::this_thread::sleep_for(kPollInterval);
    }
    if (next.work->isCompleted() && next.work->isSuccess()) {
      // One communicator runs its collectives in order.
      recorder_.start_collective(next.handle, lane_, std::max(next.enqueued_ns, previous_end_ns));
      previous_end_ns = profiler::Recorder::now_ns();
      recorder_.end_collective(next.handle, previous_end_ns);
    }
    {
      const std::lock_guard lock(mutex_);
      watched_.pop_front();
    }
    changed_.notify_all();
  }
}

}  // namespace shardlens::trainer
