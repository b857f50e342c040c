#include "trace/job/device_peaks.h"

#include <algorithm>
#include <array>

#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::job {

namespace {

// Data sheets print twice as much for structured sparsity (marked with a star); those are halved
// here. GeForce cards reach half of their 16-bit rate when sums are kept in fp32, which is what
// training does and what is listed here.
constexpr std::string_view kV100 = "NVIDIA V100 datasheet (2020)";
constexpr std::string_view kT4 = "NVIDIA T4 datasheet";
constexpr std::string_view kA100 = "NVIDIA A100 datasheet";
constexpr std::string_view kA10 = "NVIDIA A10 datasheet";
constexpr std::string_view kA30 = "NVIDIA A30 datasheet";
constexpr std::string_view kA40 = "NVIDIA A40 datasheet";
constexpr std::string_view kL4 = "NVIDIA L4 datasheet, halved for sparsity";
constexpr std::string_view kL40 = "NVIDIA L40 datasheet";
constexpr std::string_view kL40s = "NVIDIA L40S datasheet";
constexpr std::string_view kH100 = "NVIDIA H100 datasheet, halved for sparsity";
constexpr std::string_view kH200 = "NVIDIA H200 datasheet, halved for sparsity";
constexpr std::string_view kGh200 = "NVIDIA GH200 datasheet, halved for sparsity";
constexpr std::string_view kBlackwellSheet = "NVIDIA Blackwell datasheet, halved for sparsity";
constexpr std::string_view kGa102 = "NVIDIA Ampere GA102 whitepaper, appendix A";
constexpr std::string_view kAda = "NVIDIA Ada GPU architecture whitepaper, appendix A";
constexpr std::string_view kBlackwell = "NVIDIA RTX Blackwell whitepaper, appendix A";

constexpr std::array kPeaks{
    //         name           bf16    fp16   tf32   fp32  source
    DevicePeak{"V100 SXM2", 0, 125, 0, 15.7, kV100},
    DevicePeak{"V100 PCIE", 0, 112, 0, 14, kV100},
    DevicePeak{"V100S PCIE", 0, 130, 0, 16.4, kV100},
    DevicePeak{"T4", 0, 65, 0, 8.1, kT4},
    DevicePeak{"A100 SXM4", 312, 312, 156, 19.5, kA100},
    DevicePeak{"A100 PCIE", 312, 312, 156, 19.5, kA100},
    DevicePeak{"A10", 125, 125, 62.5, 31.2, kA10},
    DevicePeak{"A30", 165, 165, 82, 10.3, kA30},
    DevicePeak{"A40", 149.7, 149.7, 74.8, 37.4, kA40},
    DevicePeak{"RTX A6000", 154.8, 154.8, 77.4, 38.7, kGa102},
    DevicePeak{"RTX 3080", 59.5, 59.5, 29.8, 29.8, kGa102},
    DevicePeak{"RTX 3090", 71, 71, 35.6, 35.6, kGa102},
    DevicePeak{"RTX 3090 Ti", 80, 80, 40, 40, kAda},
    DevicePeak{"RTX 4080", 97.5, 97.5, 48.7, 48.7, kAda},
    DevicePeak{"RTX 4090", 165.2, 165.2, 82.6, 82.6, kAda},
    DevicePeak{"RTX 6000 Ada Generation", 364.2, 364.2, 182.1, 91.1, kAda},
    DevicePeak{"RTX 5080", 112.6, 112.6, 56.3, 56.3, kBlackwell},
    DevicePeak{"RTX 5090", 209.5, 209.5, 104.8, 104.8, kBlackwell},
    DevicePeak{"L4", 121, 121, 60, 30.3, kL4},
    DevicePeak{"L40", 181.05, 181.05, 90.5, 90.5, kL40},
    DevicePeak{"L40S", 362.05, 362.05, 183, 91.6, kL40s},
    DevicePeak{"H100", 989.4, 989.4, 494.7, 67, kH100},
    DevicePeak{"H100 PCIe", 756, 756, 378, 51, kH100},
    DevicePeak{"H100 NVL", 835.5, 835.5, 417.5, 60, kH100},
    DevicePeak{"H200", 989.4, 989.4, 494.7, 67, kH200},
    DevicePeak{"H200 NVL", 835.5, 835.5, 417.5, 60, kH200},
    DevicePeak{"GH200", 989.4, 989.4, 494.7, 67, kGh200},
    DevicePeak{"B200", 2250, 2250, 1100, 75, kBlackwellSheet},
    DevicePeak{"GB200", 2500, 2500, 1250, 80, kBlackwellSheet},
};

// "80GB", "144G", "HBM3e".
bool is_memory(std::string_view word) {
  if (word.starts_with("HBM")) return true;
  const auto unit = word.find_first_not_of("0123456789");
  return unit != 0 && unit != word.npos && (word.substr(unit) == "GB" || word.substr(unit) == "G");
}

bool is_maker(std::string_view word) {
  return word == "NVIDIA" || word == "Tesla" || word == "GeForce";
}

// "Tesla V100-SXM2-32GB" -> "V100 SXM2", "NVIDIA A100 80GB PCIe" -> "A100 PCIe".
std::string plain_name(std::string_view device_name) {
  std::string plain;
  while (!device_name.empty()) {
    const auto end = std::min(device_name.find_first_of(" -"), device_name.size());
    const std::string_view word = device_name.substr(0, end);
    device_name.remove_prefix(std::min(end + 1, device_name.size()));
    if (word.empty() || is_memory(word) || is_maker(word)) continue;
    plain += (plain.empty() ? "" : " ") + std::string(word);
  }
  return plain;
}

// The type in which matrices are multiplied.
DataType multiplied_in(const Settings& settings) {
  const bool has_units = strategy_traits(settings.sharding_strategy).has_units;
  if (settings.precision == Precision::kFp32 && has_units &&
      settings.param_dtype != DataType::kAuto) {
    return settings.param_dtype;
  }
  switch (settings.precision) {
    case Precision::kBf16:
      return DataType::kBf16;
    case Precision::kFp16:
      return DataType::kFp16;
    case Precision::kFp32:
      break;
  }
  return DataType::kFp32;
}

}  // namespace

std::span<const DevicePeak> device_peaks() { return kPeaks; }

const DevicePeak* find_device_peak(std::string_view device_name) {
  const std::string plain = plain_name(device_name);
  for (const DevicePeak& peak : kPeaks) {
    if (base::equal_but_for_case(peak.name, plain)) return &peak;
  }
  return nullptr;
}

PeakFlops peak_flops(const Settings& settings, std::string_view device_name, bool allows_tf32) {
  if (settings.peak_tflops != static_cast<double>(kAuto)) {
    return {settings.peak_tflops * 1e12, "peak_tflops"};
  }
  const DevicePeak* peak = find_device_peak(device_name);
  if (peak == nullptr) return {};
  const DataType type = multiplied_in(settings);
  const bool tf32 = type == DataType::kFp32 && allows_tf32 && peak->tf32 > 0;
  const double tflops = type == DataType::kBf16   ? peak->bf16
                        : type == DataType::kFp16 ? peak->fp16
                        : tf32                    ? peak->tf32
                                                  : peak->fp32;
  if (tflops <= 0) return {};
  return {tflops * 1e12, "dense " +
                             std::string(tf32                      ? "tf32"
                                         : type == DataType::kBf16 ? "bf16"
                                         : type == DataType::kFp16 ? "fp16"
                                                                   : "fp32") +
                             ", " + std::string(peak->source)};
}

}  // namespace shardlens::trace::job
