#include "profiler/memory_sampler.h"

#include <pthread.h>

#include <utility>

namespace shardlens::profiler {

MemorySampler::MemorySampler(Recorder& recorder, MemorySource source,
                             std::chrono::milliseconds interval)
    : recorder_(recorder),
      source_(std::move(source)),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void MemorySampler::record_step_peak() {
  trace::MemorySample peak = source_.take_peak();
  peak.is_peak = true;
  recorder_.add_memory_sample(peak);
}

void MemorySampler::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "memory sampler");
  while (!stop.stop_requested()) {
    recorder_.add_memory_sample(source_.current());
    std::unique_lock lock(mutex_);
    wait_.wait_for(lock, stop, interval_, [] { return false; });
  }
}

}  // namespace shardlens::profiler
