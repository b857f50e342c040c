#include "trainer/comm/nccl_executor.h"

#include <c10/cuda/CUDAFunctions.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "profiler/nccl/nccl_plugin.h"

namespace shardlens::trainer::comm {

namespace {

// How often is looked whether collectives have ended: often where the times that the host sees are
// shown, seldom where CUPTI tells the times and this only says that none is pending any more. Each
// look takes locks of the driver. LibTorch's watchdog looks every 100 ms.
constexpr std::chrono::microseconds kTimingInterval{500}, kPendingInterval{20'000};
constexpr std::chrono::seconds kWatchGrace{2};

}  // namespace

NcclExecutor::NcclExecutor(c10::intrusive_ptr<c10d::Backend> nccl,
                           profiler::recorder::Recorder& recorder, NcclExecutorOptions options)
    : nccl_(std::move(nccl)),
      recorder_(recorder),
      options_(std::move(options)),
      lane_(recorder.add_lane(trace::model::LaneKind::kCommunication,
                              "nccl, as seen by the host" + options_.lane_suffix)),
      thread_([this](std::stop_token stop) { watch(std::move(stop)); }) {}

NcclExecutor::~NcclExecutor() { close(); }

c10::intrusive_ptr<c10d::Work> NcclExecutor::submit(CollectiveJob job) {
  const profiler::nccl::HostCollectiveScope scope(job.handle);
  const std::int64_t enqueued_ns = profiler::recorder::Recorder::now_ns();
  auto work = job.launch(*nccl_);
  // Nothing is sent: what the work waits for is the GPU's own. In place NCCL launches nothing.
  if (nccl_->getSize() == 1) {
    recorder_.observe_collective(job.handle, lane_, enqueued_ns, enqueued_ns);
    return work;
  }
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back({std::move(job.description), job.handle, enqueued_ns, recorder_.step(),
                        recorder_.phase(),
                        options_.without_tensors ? options_.without_tensors(work) : work});
  }
  changed_.notify_all();
  return work;
}

void NcclExecutor::close() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kWatchGrace, [this] { return watched_.empty(); });
  }
  thread_.request_stop();
  thread_.join();
  nccl_->shutdown();
}

void NcclExecutor::watch(std::stop_token stop) {
  std::int64_t previous_end_ns = 0;
  bool has_warned = false;
  while (!stop.stop_requested()) {
    Watched next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !watched_.empty(); });
      if (watched_.empty()) return;
      next = watched_.front();
    }
    // After an error of CUDA every question throws. The collectives stay pending; the training
    // thread meets the error itself and ends the run.
    try {
      follow(next, stop, previous_end_ns);
    } catch (const std::exception& failure) {
      if (!std::exchange(has_warned, true)) {
        recorder_.log(trace::model::LogLine::Level::kWarning,
                      std::string("NCCL could not be asked whether a collective has ended; it is "
                                  "shown as pending: ") +
                          failure.what());
      }
    }
    {
      const std::lock_guard lock(mutex_);
      watched_.pop_front();
    }
    changed_.notify_all();
  }
}

void NcclExecutor::follow(const Watched& watched, const std::stop_token& stop,
                          std::int64_t& previous_end_ns) {
  // A thread without a device of its own would open a context on the first GPU.
  if (options_.device.is_cuda()) c10::cuda::set_device(options_.device.index());
  if (!await(watched, stop)) return;
  // Not isSuccess(), which NCCL's work answers by throwing.
  if (watched.work->exception() != nullptr) return;
  // One communicator runs its collectives in order.
  const std::int64_t start_ns = std::max(watched.enqueued_ns, previous_end_ns);
  previous_end_ns = profiler::recorder::Recorder::now_ns();
  recorder_.observe_collective(watched.handle, lane_, start_ns, previous_end_ns);
}

std::chrono::microseconds NcclExecutor::poll_interval() const {
  const bool has_kernel_times =
      options_.records_kernels && profiler::nccl::NcclPlugin::communicators() > 0;
  return recorder_.recording_detail() && !has_kernel_times ? kTimingInterval : kPendingInterval;
}

bool NcclExecutor::await(const Watched& watched, const std::stop_token& stop) const {
  // Not since it was enqueued: the host runs ahead of its GPU.
  const auto patience_ends = std::chrono::steady_clock::now() + options_.timeout;
  while (!watched.work->isCompleted()) {
    if (stop.stop_requested()) return false;
    if (options_.on_timeout && std::chrono::steady_clock::now() >= patience_ends) {
      options_.on_timeout({watched.step, watched.phase,
                           failure_text(watched.description, options_.world_rank,
                                        timeout_reason(options_.timeout))});
      return false;
    }
    std::this_thread::sleep_for(poll_interval());
  }
  return true;
}

}  // namespace shardlens::trainer::comm
