// NVIDIA's management library, loaded when it is there. It needs no CUDA context and may be used by
// any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "profiler/nvml/nvml_api.h"
#include "trace/base/result.h"

namespace shardlens::profiler::nvml {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

class NvmlLibrary {
 public:
  // kMissing: no such library, so no driver. kFailed: there is one, and it does not start.
  static trace::base::Result<std::shared_ptr<const NvmlLibrary>> open(
      const std::string& file = kNvmlLibrary);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  const NvmlApi& api() const { return api_; }
  std::string error_text(int status) const;  // "GPU is lost"

  std::string driver_version() const;  // "580.95.05"; "": not known
  int cuda_version() const;            // that the driver supports: 13000 is 13.0; 0: not known
  int device_count() const;
  std::optional<NvmlDevice> device(int index) const;
  // "00000000:1B:00.0" or shorter forms; CUDA_VISIBLE_DEVICES changes indexes, not these.
  std::optional<NvmlDevice> device_at(const std::string& pci_bus_id) const;

 private:
  NvmlLibrary(void* library, const NvmlApi& api) : library_(library), api_(api) {}

  void* library_;
  const NvmlApi api_;
};

// "13.0" of 13000, as CUDA counts; "": not known.
std::string cuda_version_text(int version);

}  // namespace shardlens::profiler::nvml
