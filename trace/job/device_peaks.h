// How fast GPUs can multiply matrices at most, by their names: what MFU is measured against. Plain
// values, any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

// Dense peaks in TFLOP/s, with sums in fp32 as cuBLAS keeps them, at the clocks that the source
// assumes; 0: the device has no such unit.
struct DevicePeak {
  std::string_view name;  // as the driver reports it, without maker and memory: "H100 PCIe"
  double bf16 = 0;        // tensor cores
  double fp16 = 0;        // tensor cores
  double tf32 = 0;        // tensor cores
  double fp32 = 0;        // outside of them
  std::string_view source;
};

std::span<const DevicePeak> device_peaks();
// `device_name` as the driver reports it. A laptop's variant, a slice of a GPU (MIG) or any other
// name that is not in the table: nullptr.
const DevicePeak* find_device_peak(std::string_view device_name);

// What a run's MFU is divided by, per GPU.
struct PeakFlops {
  double per_second = 0;  // 0: not known
  std::string origin;     // "dense bf16, NVIDIA H100 datasheet", "peak_tflops"
};
// By the knob `peak_tflops`, else by the table for the precision that matrices are multiplied in.
PeakFlops peak_flops(const Settings& settings, std::string_view device_name, bool allows_tf32);

}  // namespace shardlens::trace::job
