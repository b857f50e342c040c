#include "app/cli/doctor/system_health.h"

#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

constexpr double kLittleSharedMemory = 64.0 * (1 << 20);  // what containers get by default
// Eight ranks with NCCL's channels over sockets open some thousand.
constexpr std::uint64_t kFewFiles = 4096;
constexpr std::uint64_t kLittleLocked = 64ull << 20;

HealthCheck unknown(HealthCheck check, const char* where) {
  check.finding = std::string("not known: ") + where + " does not tell";
  return check;
}

std::string amount(std::uint64_t bytes) {
  return bytes == kUnlimited ? "without limit"
                             : ui::present::format_bytes(static_cast<double>(bytes)).text();
}

}  // namespace

HealthCheck check_shared_memory(const SystemFacts& facts, const std::filesystem::path& folder) {
  HealthCheck check{.name = "Shared memory"};
  if (!facts.shared_memory_bytes) {
    return limited(
        check, folder.string() + " is not there or not writable: NCCL cannot use it between GPUs",
        "Mount a tmpfs on /dev/shm.");
  }
  check.finding =
      folder.string() + " holds " + ui::present::format_bytes(*facts.shared_memory_bytes).text();
  if (*facts.shared_memory_bytes <= kLittleSharedMemory) {
    check.health = Health::kLimited;
    check.advice = "Little for NCCL; in a container use --shm-size=1g.";
  }
  return check;
}

HealthCheck check_open_files(const SystemFacts& facts) {
  HealthCheck check{.name = "Open files"};
  if (!facts.open_files) return unknown(check, "/proc/self/limits");
  check.finding = *facts.open_files == kUnlimited
                      ? "without limit"
                      : "at most " + std::to_string(*facts.open_files) + " at once";
  if (*facts.open_files >= kFewFiles) return check;
  const bool may_raise = facts.open_files_most && *facts.open_files_most >= kFewFiles;
  return limited(check, check.finding + ": few for many ranks, whose sockets count",
                 may_raise ? "Type ulimit -n " + std::to_string(kFewFiles) + " before starting."
                           : "Raise nofile in /etc/security/limits.conf, or in a container use "
                             "--ulimit nofile=65536.");
}

HealthCheck check_locked_memory(const SystemFacts& facts) {
  HealthCheck check{.name = "Locked memory"};
  if (!facts.locked_bytes) return unknown(check, "/proc/self/limits");
  check.finding = amount(*facts.locked_bytes);
  if (*facts.locked_bytes >= kLittleLocked) return check;
  return limited(
      check, check.finding + ": NCCL cannot register memory with InfiniBand cards",
      "On one machine nothing is needed; across machines type ulimit -l unlimited, or in a "
      "container use --ulimit memlock=-1.");
}

HealthCheck check_clock(const SystemFacts& facts) {
  HealthCheck check{.name = "Clock"};
  check.finding = facts.clock_source.empty() ? "of an unknown source" : facts.clock_source;
  if (facts.is_synchronized) {
    check.finding += *facts.is_synchronized ? ", synchronized" : ", not synchronized";
  }
  const bool is_slow = !facts.clock_source.empty() && facts.clock_source != "tsc" &&
                       facts.clock_source != "arch_sys_counter" &&
                       facts.clock_source != "kvm-clock";
  if (is_slow) {
    check.health = Health::kLimited;
    check.finding += ": reading it goes through the kernel, which every recorded event does";
    check.advice = "Boot with clocksource=tsc if the processor's is stable (see dmesg).";
  } else if (facts.is_synchronized == false) {
    check.health = Health::kLimited;
    check.advice =
        "On one machine it does not matter; across machines run chrony or ntpd, so that ranks' "
        "times compare.";
  }
  return check;
}

}  // namespace shardlens::app::cli
