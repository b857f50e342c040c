// The CUDA devices that ranks would see, found without creating a CUDA context. Any thread.
#pragma once

#include <string>
#include <vector>

namespace shardlens::app::launch {

struct CudaDevice {
  std::string name;
  std::size_t memory_bytes = 0;
};

struct CudaProbe {
  bool driver_found = false;        // libcuda.so.1 could be loaded
  int driver_cuda_version = 0;      // as the driver reports it: 13000 is CUDA 13.0
  int error_code = 0;               // CUresult of cuInit; 0: all is well
  std::vector<CudaDevice> devices;  // after CUDA_VISIBLE_DEVICES
};

CudaProbe probe_cuda();

}  // namespace shardlens::app::launch
