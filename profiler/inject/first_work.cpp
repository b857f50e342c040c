#include "profiler/inject/first_work.h"

#include <pthread.h>

#include <utility>

#include "profiler/cupti/cupti_source.h"
#include "profiler/inject/cuda_driver.h"

namespace shardlens::profiler::inject {
namespace {

constexpr std::chrono::milliseconds kLookInterval{100};

}  // namespace

FirstWork::FirstWork(bool waits_for_nccl, std::function<void()> on_work)
    : waits_for_nccl_(waits_for_nccl),
      on_work_(std::move(on_work)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

FirstWork::~FirstWork() {
  thread_.request_stop();
  thread_.join();
}

// Where CUPTI tells nothing, whoever has a context is taken to use it: what keeps CUPTI from
// telling must get into a recording.
bool FirstWork::has_worked(bool is_forced) {
  return cupti::CuptiSource::is_prepared() ? cupti::CuptiSource::has_work(is_forced)
                                           : CudaDriver().has_context();
}

template <typename Condition>
void FirstWork::wait_until(const std::stop_token& stop, Condition&& condition) {
  // Not at once: CUDA is still starting.
  do {
    std::unique_lock lock(mutex_);
    wait_.wait_for(lock, stop, kLookInterval, [] { return false; });
  } while (!stop.stop_requested() && !condition());
}

void FirstWork::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "first work");
  wait_until(stop, [] { return has_worked(false); });
  if (waits_for_nccl_) {
    const auto end = std::chrono::steady_clock::now() + kLongestWaitForNccl;
    wait_until(stop, [&] {
      return cupti::CuptiSource::held_buffers() >= kMostHeldBuffers ||
             std::chrono::steady_clock::now() >= end;
    });
  }
  if (!stop.stop_requested()) on_work_();
}

}  // namespace shardlens::profiler::inject
