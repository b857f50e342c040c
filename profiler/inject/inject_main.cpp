// The entry point that CUDA looks for in the library that CUDA_INJECTION64_PATH names, and what all
// entry points share.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>

#include "profiler/inject/injected_process.h"
#include "profiler/inject/rank_identity.h"

namespace shardlens::profiler {
namespace {

// The callbacks of CUDA, NVTX and NCCL carry no context, so this is how they find the recorder.
std::atomic<ProcessRecorder*> recorder_of_process{nullptr};
std::atomic<bool> is_off{false};
std::mutex start_mutex;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void finish_at_exit() {
  is_off = true;
  if (ProcessRecorder* recorder = recorder_of_process.load()) recorder->finish();
}

// The threads of the recorder are not in the child, and its file belongs to the parent.
void forget_in_child() {
  is_off = true;
  recorder_of_process = nullptr;
}

void say(const std::string& why) {
  std::fprintf(stderr, "shardlens: this process is not recorded: %s\n", why.c_str());
}

trace::Result<ProcessRecorder*> start() {
  TRY_ASSIGN(const auto options, process_options(variable));
  if (!options || starts_ranks(own_arguments())) return nullptr;
  TRY_ASSIGN(auto recorder, ProcessRecorder::start(*options, variable));
  pthread_atfork(nullptr, nullptr, forget_in_child);
  std::atexit(finish_at_exit);
  return recorder.release();
}

}  // namespace

ProcessRecorder* injected_recorder() {
  if (is_off) return nullptr;
  if (ProcessRecorder* recorder = recorder_of_process.load()) return recorder;
  const std::lock_guard lock(start_mutex);
  if (is_off || recorder_of_process.load() != nullptr) return recorder_of_process.load();
  // No exception may reach a program that does not know us.
  try {
    if (auto started = start(); started && *started != nullptr) {
      recorder_of_process = *started;
    } else {
      is_off = true;
      if (!started) say(started.error().message);
    }
  } catch (const std::exception& failure) {
    is_off = true;
    say(failure.what());
  }
  return recorder_of_process.load();
}

RangeRecorder* injected_ranges() {
  ProcessRecorder* recorder = recorder_of_process.load(std::memory_order_acquire);
  return recorder == nullptr || is_off.load(std::memory_order_relaxed) ? nullptr
                                                                       : &recorder->ranges();
}

}  // namespace shardlens::profiler

// Called inside the first call of CUDA. 1 is success; 0 would end the program.
extern "C" int InitializeInjection() {
  try {
    if (auto* recorder = shardlens::profiler::injected_recorder()) {
      recorder->watch_gpu();
      // Once more: what is registered last runs first, and CUPTI, which may just have been loaded,
      // has an end of its own.
      std::atexit(shardlens::profiler::finish_at_exit);
    }
  } catch (const std::exception& failure) {
    shardlens::profiler::say(failure.what());
  }
  return 1;
}
