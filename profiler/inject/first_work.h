// Waits until a process that has started CUDA works on a GPU. It has a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace shardlens::profiler::inject {

class FirstWork {
 public:
  // How long a process that NCCL may number is waited for once it works, if its records do not fill
  // too many of CUPTI's buffers before.
  static constexpr std::chrono::seconds kLongestWaitForNccl{10};
  static constexpr std::size_t kMostHeldBuffers = 8;

  // After CuptiSource::prepare(), whatever came of it. `on_work` is called once, by this thread.
  FirstWork(bool waits_for_nccl, std::function<void()> on_work);
  // Must not be called from `on_work`.
  ~FirstWork();

  // With `is_forced` also what CUPTI has not handed over.
  static bool has_worked(bool is_forced);

 private:
  void run(const std::stop_token& stop);
  template <typename Condition>
  void wait_until(const std::stop_token& stop, Condition&& condition);

  const bool waits_for_nccl_;
  const std::function<void()> on_work_;
  std::mutex mutex_;
  std::condition_variable_any wait_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace shardlens::profiler::inject
