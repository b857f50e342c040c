// What a recorded program's CUDA driver tells (cuda.h), which that program has loaded and
// initialised. Any thread; loads nothing itself.
#pragma once

#include <cstdint>
#include <string>

namespace shardlens::profiler::inject {

class CudaDriver {
 public:
  CudaDriver();
  ~CudaDriver();
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  int devices() const;                             // 0: not known
  std::string bus_id(std::uint32_t device) const;  // "0000:1b:00.0"; empty: not known
  // Whether the program computes on a GPU: asking how many there are makes no context.
  bool has_context() const;

 private:
  template <typename F>
  void load(F& function, const char* name);

  void* library_;
  int (*device_count_)(int*) = nullptr;
  int (*device_get_)(int*, int) = nullptr;
  int (*bus_id_)(char*, int, int) = nullptr;
  int (*primary_context_)(int, unsigned*, int*) = nullptr;
};

}  // namespace shardlens::profiler::inject
