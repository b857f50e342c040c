#include "app/cli/doctor/machine_description.h"

#include <sys/utsname.h>

#include <thread>

#include "app/launch/device_probe.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
report::Json describe_machine() {
  utsname system{};
  uname(&system);
  report::Json gpus = report::Json::array();
  for (const auto& gpu : launch::probe_cuda().devices) {
    gpus.push_back({{"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}});
  }
  const std::string cpu = trace::base::cpu_name();
  return {{"cpu", cpu.empty() ? "unknown CPU" : cpu},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_bytes", trace::base::memory_bytes()},
          {"gpus", std::move(gpus)},
          {"system", std::string(system.sysname) + " " + system.release}};
}

std::string machine_text(const report::Json& machine) {
  const auto gpus = trace::base::joined(machine["gpus"], ", ", [](const auto& gpu) {
    return gpu["name"].template get<std::string>();
  });
  return machine["cpu"].get<std::string>() + ", " + machine["cores"].dump() + " cores, " +
         ui::present::format_bytes(machine["memory_bytes"].get<double>()).text() + "; " +
         (gpus.empty() ? "no GPU" : gpus) + "; " + machine["system"].get<std::string>();
}

}  // namespace shardlens::app::cli
