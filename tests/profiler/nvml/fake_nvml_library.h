// A management library with made-up GPUs, loaded by its path as the real one is. Tests change what
// it answers through `state()`. For tests.
#pragma once

#include <dlfcn.h>

#include <mutex>
#include <string>

#include "tests/profiler/nvml/fake_nvml.h"

namespace shardlens::test {

// Holds the library, so that its state lives as long as this. Begins anew each time.
class FakeNvmlLibrary {
 public:
  FakeNvmlLibrary() : library_(dlopen(SHARDLENS_FAKE_NVML, RTLD_NOW | RTLD_LOCAL)) {
    auto* reset = reinterpret_cast<FakeNvml* (*)()>(dlsym(library_, "reset_fake_nvml"));
    state_ = reset();
  }
  ~FakeNvmlLibrary() { dlclose(library_); }
  FakeNvmlLibrary(const FakeNvmlLibrary&) = delete;
  FakeNvmlLibrary& operator=(const FakeNvmlLibrary&) = delete;

  static std::string path() { return SHARDLENS_FAKE_NVML; }
  FakeNvml& state() { return *state_; }
  FakeGpu& gpu(std::size_t index = 0) { return state_->gpus[index]; }
  // Of a state that a sampler's thread may be reading.
  template <typename Change>
  void change(Change change) {
    const std::lock_guard lock(state_->mutex);
    change(state_->gpus[0]);
  }

 private:
  void* library_;
  FakeNvml* state_ = nullptr;
};

}  // namespace shardlens::test
