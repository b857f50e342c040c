// What a GPU says of itself between events: names and units of its counters, and what the bits of
// kClockLimits mean. Who records them and who reads them agree here. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardlens::trace::model {

// In the order in which the timeline shows them.
inline constexpr std::string_view kGpuUtilization = "GPU utilization";
inline constexpr std::string_view kGpuPower = "GPU power";
inline constexpr std::string_view kSmClock = "SM clock";
inline constexpr std::string_view kGpuTemperature = "GPU temperature";
inline constexpr std::string_view kMemoryUtilization = "Memory utilization";
inline constexpr std::string_view kMemoryClock = "Memory clock";
inline constexpr std::string_view kDeviceMemory = "Device memory used";
inline constexpr std::string_view kNvlinkReceived = "NVLink received";
inline constexpr std::string_view kNvlinkSent = "NVLink sent";
inline constexpr std::string_view kPcieReceived = "PCIe received";
inline constexpr std::string_view kPcieSent = "PCIe sent";
inline constexpr std::string_view kPowerLimit = "GPU power limit";
inline constexpr std::string_view kClockLimits = "Clock limits";  // a set of ClockLimit
inline constexpr std::array kGpuCounters{
    kGpuUtilization, kGpuPower,     kSmClock,        kGpuTemperature, kMemoryUtilization,
    kMemoryClock,    kDeviceMemory, kNvlinkReceived, kNvlinkSent,     kPcieReceived,
    kPcieSent,       kPowerLimit,   kClockLimits};

// Derived of kClockLimits: 1 where one of kThrottling held the clocks down, else 0.
inline constexpr std::string_view kThrottled = "Throttled";

// Place in kGpuCounters; −1: of another source.
int gpu_counter_place(std::string_view name);
// Those that say most in the least room; the others come when they are asked for.
bool is_leading_gpu_counter(std::string_view name);

// What holds the clocks down: the bits of NVML's nvmlClocksEventReason* (nvml.h of CUDA 13).
enum ClockLimit : std::uint32_t {
  kLimitIdle = 0x1,               // nothing runs
  kLimitApplicationClocks = 0x2,  // set by the user
  kLimitPowerCap = 0x4,           // software keeps the set power limit
  kLimitHardwareSlowdown = 0x8,   // halved or worse: heat, power brake, or too fast a rise of power
  kLimitSyncBoost = 0x10,         // another GPU of the group is held down
  kLimitSoftwareThermal = 0x20,   // the highest operating temperature is reached
  kLimitHardwareThermal = 0x40,   // halved or worse for heat
  kLimitPowerBrake = 0x80,        // halved or worse, by the power supply
  kLimitDisplayClocks = 0x100,
};
// Those that take speed from a job which nobody asked to give up.
inline constexpr std::uint32_t kThrottling = kLimitPowerCap | kLimitHardwareSlowdown |
                                             kLimitSyncBoost | kLimitSoftwareThermal |
                                             kLimitHardwareThermal | kLimitPowerBrake;

// "power cap, thermal slowdown" of those that throttle, worst last; "" for none.
std::string throttling_text(std::uint32_t limits);

}  // namespace shardlens::trace::model
