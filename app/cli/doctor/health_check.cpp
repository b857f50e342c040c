#include "app/cli/doctor/health_check.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "app/cli/doctor/child_output.h"
#include "app/cli/doctor/gpu_health.h"
#include "app/launch/device_probe.h"
#include "app/launch/program_files.h"
#include "app/report/report_json.h"
#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kLittleSpace = 2.0 * (1 << 30);  // a long recording with details
constexpr std::chrono::seconds kTextPatience{30};
constexpr double kNoSpace = 100.0 * (1 << 20);

std::string bytes(double count) { return ui::present::format_bytes(count).text(); }

// The folder itself, or the nearest one above it that exists.
fs::path existing_part(const fs::path& folder) {
  std::error_code error;
  fs::path part = fs::absolute(folder, error);
  while (!fs::exists(part, error) && part.has_parent_path() && part != part.parent_path()) {
    part = part.parent_path();
  }
  return part;
}

HealthCheck check_trainer() {
  HealthCheck check{.name = "Trainer"};
  if (const auto program = launch::find_rank_program()) {
    check.finding = program->string();
    return check;
  }
  return limited(check, "not built: recorded runs can be viewed, nothing can be trained",
                 "Type ./run without --viewer, which fetches LibTorch and builds it.");
}

// In the Python packages that ./run fetched beside the checkout; "": not there.
std::string fetched_library(const std::string& package, const std::string& file) {
  std::error_code error;
  for (fs::path folder = launch::program_folder(); folder.has_relative_path();
       folder = folder.parent_path()) {
    for (fs::directory_iterator python(folder / ".deps/venv/lib", error), end;
         !error && python != end; python.increment(error)) {
      const fs::path library = python->path() / "site-packages/nvidia" / package / "lib" / file;
      std::error_code unknown;
      if (fs::exists(library, unknown)) return library.string();
    }
  }
  return "";
}

// "2.28.9" of a loaded NCCL; "": it does not say.
std::string nccl_version(void* library) {
  auto* get = reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"));
  int version = 0;
  if (get == nullptr || get(&version) != 0 || version < 10000) return "";
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

// Else where the system looks.
HealthCheck check_library(const std::string& name, const std::string& file,
                          const std::string& package, const std::string& purpose) {
  HealthCheck check{.name = name};
  const std::string fetched = fetched_library(package, file);
  void* library = dlopen((fetched.empty() ? file : fetched).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr && fetched.empty()) {
    return limited(check, "not found: " + purpose,
                   "It comes with LibTorch: type ./run without --viewer.");
  }
  check.finding = fetched.empty() ? file + ", from the system" : fetched;
  if (library == nullptr) {
    const char* reason = dlerror();
    return limited(
        check,
        check.finding + " does not load: " + std::string(reason ? reason : "no reason given"),
        "Delete the folder .deps and type ./run, which fetches it again.");
  }
  if (const auto version = nccl_version(library); !version.empty()) {
    check.finding = version + ", " + check.finding;
  }
  dlclose(library);
  return check;
}

constexpr double kLittleSharedMemory = 64.0 * (1 << 20);  // what containers get by default
// Eight ranks with NCCL's channels over sockets open some thousand.
constexpr std::uint64_t kFewFiles = 4096;
constexpr std::uint64_t kLittleLocked = 64ull << 20;

HealthCheck unknown(HealthCheck check, const char* where) {
  check.finding = std::string("not known: ") + where + " does not tell";
  return check;
}

std::string limit_text(std::uint64_t limit) {
  return limit == kUnlimited ? "without limit" : bytes(static_cast<double>(limit));
}

}  // namespace

HealthCheck limited(HealthCheck check, std::string finding, std::string advice) {
  check.health = Health::kLimited;
  check.finding = std::move(finding);
  check.advice = std::move(advice);
  return check;
}

// By the trainer's own words, as it decides which Python that is.
HealthCheck check_text_preparation(const trace::base::Result<fs::path>& trainer) {
  HealthCheck check{.name = "Text preparation"};
  if (!trainer) {
    return limited(check, "not known: the trainer, which asks Python, is not built",
                   "Type ./run without --viewer, which fetches LibTorch and builds it.");
  }
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (error) {
    return limited(check, "not known: TMPDIR does not name a folder for temporary files",
                   "Set TMPDIR to a folder that is there and writable, or unset it.");
  }
  const auto end = std::chrono::steady_clock::now() + kTextPatience;
  const auto said = run_and_read(*trainer, {"--check-text"}, temporary,
                                 [&] { return std::chrono::steady_clock::now() < end; });
  return text_preparation_of(said ? *said : "fails: " + said.error().message);
}

HealthCheck text_preparation_of(std::string_view said) {
  constexpr std::string_view kWorks = "works: ", kFails = "fails: ";
  HealthCheck check{.name = "Text preparation"};
  while (said.ends_with('\n')) said.remove_suffix(1);
  if (said.starts_with(kWorks)) {
    check.finding = said.substr(kWorks.size());
    return check;
  }
  if (said.starts_with(kFails)) said.remove_prefix(kFails.size());
  return limited(
      check, "plain text as bytes only: no model's tokenizer, no JSON Lines",
      std::string(said.empty() ? "The trainer said nothing: type ./run, which builds it." : said));
}

HealthCheck check_runs_dir(const fs::path& runs_dir) {
  HealthCheck check{.name = "Runs folder"};
  const fs::path part = existing_part(runs_dir);
  std::error_code error;
  check.finding = fs::absolute(runs_dir, error).string();
  if (!fs::is_directory(part, error)) {
    check.health = Health::kBad;
    check.finding += ": " + part.string() + " is not a folder";
    check.advice = "Name another folder with --runs-dir.";
  } else if (access(part.c_str(), W_OK | X_OK) != 0) {
    check.health = Health::kBad;
    check.finding += ": " + part.string() + " is not writable";
    check.advice = "Change its permissions, or name another folder with --runs-dir.";
  } else if (const auto warning = trace::base::network_file_system_warning(part);
             !warning.empty()) {
    check.health = Health::kLimited;
    check.finding += ": " + warning;
    check.advice = "Name a folder on a local disk with --runs-dir.";
  } else {
    check.finding += ", writable";
  }
  return check;
}

HealthCheck check_disk_space(const fs::path& runs_dir) {
  HealthCheck check{.name = "Disk space"};
  struct statvfs space {};
  const fs::path part = existing_part(runs_dir);
  if (statvfs(part.c_str(), &space) != 0) {
    return limited(check, "unknown: " + std::string(std::strerror(errno)),
                   "Name a folder on a local disk with --runs-dir.");
  }
  const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  check.finding = bytes(free) + " free for runs";
  if (free < kLittleSpace) {
    check.health = free < kNoSpace ? Health::kBad : Health::kLimited;
    check.advice = "Free some space, or record less (settings record and record_limit_mb).";
  }
  return check;
}

HealthCheck check_display(bool has_display) {
  HealthCheck check{.name = "Display"};
  check.finding = "found";
  if (has_display) return check;
  return limited(check, "none (DISPLAY and WAYLAND_DISPLAY are not set): no window",
                 "Use the command line, ssh -X, or xvfb-run for screenshots.");
}

HealthCheck check_loopback() {
  HealthCheck check{.name = "Loopback network"};
  const auto open_socket = [] {
    return trace::base::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  };
  const auto server = open_socket(), client = open_socket();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  const bool works = server.is_open() && bind(server.get(), raw, size) == 0 &&
                     listen(server.get(), 1) == 0 && getsockname(server.get(), raw, &size) == 0 &&
                     connect(client.get(), raw, size) == 0;
  if (works) {
    check.finding = "ports on 127.0.0.1 can be opened and reached";
  } else {
    check.health = Health::kBad;
    check.finding = "127.0.0.1 cannot be used: " + std::string(std::strerror(errno));
    check.advice = "Ranks talk over it; bring the interface lo up, or allow it in the sandbox.";
  }
  return check;
}

std::vector<HealthCheck> check_health(const HealthContext& context) {
  const SystemFacts facts = read_system_facts(context.places);
  std::vector<HealthCheck> checks{check_trainer(),
                                  check_text_preparation(launch::find_rank_program())};
  const GpuScene gpus = look_at_gpus(context, facts);
  for (HealthCheck& check : check_gpu_health(gpus)) checks.push_back(std::move(check));
  if (!gpus.cuda.devices.empty()) {  // without a GPU ./run does not fetch it
    checks.push_back(
        check_library("NCCL", "libnccl.so.2", "nccl", "no communication between GPUs"));
  }
  checks.push_back(
      check_library("CUPTI", "libcupti.so.13", "cu13", "GPU activity is not recorded"));
  for (const HealthCheck& check :
       {check_runs_dir(context.runs_dir), check_disk_space(context.runs_dir),
        check_shared_memory(facts, context.places.shared_memory), check_open_files(facts),
        check_locked_memory(facts), check_clock(facts), check_loopback(),
        check_display(context.has_display)}) {
    checks.push_back(check);
  }
  return checks;
}

HealthCheck check_shared_memory(const SystemFacts& facts, const std::filesystem::path& folder) {
  HealthCheck check{.name = "Shared memory"};
  if (!facts.shared_memory_bytes) {
    return limited(
        check, folder.string() + " is not there or not writable: NCCL cannot use it between GPUs",
        "Mount a tmpfs on /dev/shm.");
  }
  check.finding = folder.string() + " holds " + bytes(*facts.shared_memory_bytes);
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
  check.finding = limit_text(*facts.locked_bytes);
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
