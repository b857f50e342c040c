#include "trainer/cuda/cuda_part.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <dlfcn.h>

namespace shardlens::trainer::cuda {

trace::base::Result<const CudaPart*> load_cuda_part(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const get = library != nullptr ? dlsym(library, "shardlens_cuda_part") : nullptr;
  if (get == nullptr) {
    const char* reason = dlerror();
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "What computes on GPUs does not load: " +
                                 std::string(reason ? reason : file + " is another library") +
                                 ". Type ./run on this machine, which fetches what GPUs need and "
                                 "builds it, or set device=cpu.");
  }
  if (!at::hasCUDA() && c10::cuda::device_count() > 0) {
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "LibTorch was asked about GPUs before " + file + " was loaded.");
  }
  return reinterpret_cast<const CudaPart* (*)()>(get)();
}

}  // namespace shardlens::trainer::cuda
