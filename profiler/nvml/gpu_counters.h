// The counters of one GPU: power, clocks, temperature, traffic. One that the device does not have
// is asked for once and then left out; one that fails later is reported once. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/nvml/nvml_library.h"

namespace shardlens::profiler::nvml {

struct CounterReading {
  std::string_view name, unit;  // static
  std::int64_t time_ns = 0;     // when it was read: it stands for the time since the one before
  double value = 0;
};

class GpuCounters {
 public:
  struct Sinks {
    std::function<void(const CounterReading&)> reading;
    // A counter that answered before no longer does, and why.
    std::function<void(std::string_view name, int status)> lost;
  };
  // `now_ns`: the clock of the readings.
  GpuCounters(std::shared_ptr<const NvmlLibrary> library, NvmlDevice device,
              std::function<std::int64_t()> now_ns);

  // Asks everything once. Takes 40 ms with PCIe throughput, which the driver measures itself.
  void read(const Sinks& sinks);
  bool any_left() const;  // false: the device answers nothing, or nothing any more

 private:
  enum class State : std::uint8_t { kUntried, kWorks, kGone };
  struct Answer {
    int status = 0;
    std::optional<double> value{};  // none yet: a rate needs two readings
  };
  struct Question {
    std::string_view name, unit;
    std::function<Answer()> ask;
    State state = State::kUntried;
  };
  // Bytes so far of NVLink, for a rate.
  struct LinkTotal {
    std::int64_t time_ns = 0;
    unsigned long long kibibytes = 0;
  };

  void add(std::string_view name, std::string_view unit, std::function<Answer()> ask);
  void add_load_and_power();
  void add_clocks();
  void add_traffic();
  Answer nvlink_rate(unsigned field, std::optional<LinkTotal>& before) const;
  void settle(Question& question, int status, const Sinks& sinks);

  const std::shared_ptr<const NvmlLibrary> library_;
  const NvmlDevice device_;
  const std::function<std::int64_t()> now_ns_;
  std::array<std::optional<LinkTotal>, 2> link_totals_;
  std::vector<Question> questions_;
};

}  // namespace shardlens::profiler::nvml
