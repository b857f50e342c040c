#include "profiler/nvml/gpu_counters.h"

#include <algorithm>
#include <utility>

#include "trace/model/gpu_counter_names.h"

namespace shardlens::profiler::nvml {

namespace {

constexpr double kMilliwatts = 1e-3;
constexpr double kPcieUnit = 1e3;  // "KB/s"
constexpr unsigned long long kKibibyte = 1024;

unsigned long long integer_of(const NvmlFieldValue& field) {
  switch (field.value_type) {
    case kNvmlValueUnsigned:
      return field.value.small;
    case kNvmlValueUnsignedLong:
      return field.value.medium;
    default:
      return field.value.large;
  }
}

}  // namespace

GpuCounters::GpuCounters(std::shared_ptr<const NvmlLibrary> library, NvmlDevice device,
                         std::function<std::int64_t()> now_ns)
    : library_(std::move(library)), device_(device), now_ns_(std::move(now_ns)) {
  add_load_and_power();
  add_clocks();
  add_traffic();
}

void GpuCounters::add(std::string_view name, std::string_view unit, std::function<Answer()> ask) {
  questions_.push_back({name, unit, std::move(ask)});
}

void GpuCounters::add_load_and_power() {
  const NvmlApi& api = library_->api();
  const auto power = [this](int (*ask)(NvmlDevice, unsigned*)) {
    return [this, ask]() -> Answer {
      unsigned milliwatts = 0;
      const int status = ask(device_, &milliwatts);
      return {status, milliwatts * kMilliwatts};
    };
  };
  if (api.utilization) {
    const auto percent = [this](unsigned NvmlUtilization::*part) {
      return [this, part]() -> Answer {
        NvmlUtilization load;
        const int status = library_->api().utilization(device_, &load);
        return {status, static_cast<double>(load.*part)};
      };
    };
    add(trace::model::kGpuUtilization, "%", percent(&NvmlUtilization::gpu));
    add(trace::model::kMemoryUtilization, "%", percent(&NvmlUtilization::memory));
  }
  if (api.power_usage) add(trace::model::kGpuPower, "W", power(api.power_usage));
  if (api.enforced_power_limit)
    add(trace::model::kPowerLimit, "W", power(api.enforced_power_limit));
  if (api.memory) {
    add(trace::model::kDeviceMemory, "bytes", [this]() -> Answer {
      NvmlMemory memory;
      const int status = library_->api().memory(device_, &memory);
      return {status, static_cast<double>(memory.used)};
    });
  }
}

void GpuCounters::add_clocks() {
  const NvmlApi& api = library_->api();
  const auto ask = [this](int (*function)(NvmlDevice, int, unsigned*), int which) {
    return [this, function, which]() -> Answer {
      unsigned value = 0;
      const int status = function(device_, which, &value);
      return {status, static_cast<double>(value)};
    };
  };
  if (api.clock) {
    add(trace::model::kSmClock, "MHz", ask(api.clock, kNvmlClockSm));
    add(trace::model::kMemoryClock, "MHz", ask(api.clock, kNvmlClockMemory));
  }
  if (api.temperature) {
    add(trace::model::kGpuTemperature, "°C", ask(api.temperature, kNvmlTemperatureGpu));
  }
  if (api.clock_limits) {
    add(trace::model::kClockLimits, "set", [this]() -> Answer {
      unsigned long long limits = 0;
      const int status = library_->api().clock_limits(device_, &limits);
      return {status, static_cast<double>(limits)};
    });
  }
}

void GpuCounters::add_traffic() {
  const NvmlApi& api = library_->api();
  if (api.field_values) {
    add(trace::model::kNvlinkReceived, "bytes/s",
        [this] { return nvlink_rate(kNvmlFieldNvlinkReceived, link_totals_[0]); });
    add(trace::model::kNvlinkSent, "bytes/s",
        [this] { return nvlink_rate(kNvmlFieldNvlinkSent, link_totals_[1]); });
  }
  if (!api.pcie_throughput) return;
  const auto pcie = [this](int direction) {
    return [this, direction]() -> Answer {
      unsigned kilobytes = 0;
      const int status = library_->api().pcie_throughput(device_, direction, &kilobytes);
      return {status, kilobytes * kPcieUnit};
    };
  };
  // Last: they take 20 ms each.
  add(trace::model::kPcieReceived, "bytes/s", pcie(kNvmlPcieReceived));
  add(trace::model::kPcieSent, "bytes/s", pcie(kNvmlPcieSent));
}

GpuCounters::Answer GpuCounters::nvlink_rate(unsigned field,
                                             std::optional<LinkTotal>& before) const {
  NvmlFieldValue value;
  value.field = field;
  value.scope = kNvmlAllLinks;
  const int status = library_->api().field_values(device_, 1, &value);
  if (status != kNvmlSuccess) return {status};
  if (value.status != kNvmlSuccess) return {value.status};
  const LinkTotal now{now_ns_(), integer_of(value)};
  const auto last = std::exchange(before, now);
  // A counter that was reset, or a clock that was set back, gives no rate.
  if (!last || now.time_ns <= last->time_ns || now.kibibytes < last->kibibytes) return {};
  const double seconds = static_cast<double>(now.time_ns - last->time_ns) * 1e-9;
  const auto moved = static_cast<double>((now.kibibytes - last->kibibytes) * kKibibyte);
  return {kNvmlSuccess, moved / seconds};
}

void GpuCounters::settle(Question& question, int status, const Sinks& sinks) {
  const State before =
      std::exchange(question.state, status == kNvmlSuccess ? State::kWorks : State::kGone);
  if (status != kNvmlSuccess && before == State::kWorks) sinks.lost(question.name, status);
}

void GpuCounters::read(const Sinks& sinks) {
  for (Question& question : questions_) {
    if (question.state == State::kGone) continue;
    const Answer answer = question.ask();
    settle(question, answer.status, sinks);
    if (answer.status != kNvmlSuccess || !answer.value) continue;
    sinks.reading({question.name, question.unit, now_ns_(), *answer.value});
  }
}

bool GpuCounters::any_left() const {
  return std::ranges::any_of(
      questions_, [](const Question& question) { return question.state != State::kGone; });
}

}  // namespace shardlens::profiler::nvml
