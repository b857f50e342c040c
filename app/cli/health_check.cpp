#include "app/cli/health_check.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "app/launch/device_probe.h"
#include "app/launch/program_files.h"
#include "trace/store/file_system.h"
#include "ui/format.h"

namespace shardlens::app {
namespace {

namespace fs = std::filesystem;

constexpr double kLittleSpace = 2.0 * (1 << 30);  // a long recording with details
constexpr double kNoSpace = 100.0 * (1 << 20);
constexpr double kLittleSharedMemory = 64.0 * (1 << 20);  // what containers get by default

std::string bytes(double count) { return ui::format_bytes(count).text(); }

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
  if (const auto program = find_rank_program()) {
    check.finding = program->string();
  } else {
    check.health = Health::kLimited;
    check.finding = "not built: recorded runs can be viewed, nothing can be trained";
    check.advice = "Type ./run without --viewer, which fetches LibTorch and builds it.";
  }
  return check;
}

HealthCheck check_driver(const CudaProbe& cuda) {
  HealthCheck check{.name = "NVIDIA driver"};
  if (!cuda.driver_found) {
    check.health = Health::kLimited;
    check.finding = "none: jobs run on the CPU";
    check.advice = "For training on a GPU install NVIDIA's driver (580 or later for CUDA 13).";
  } else if (cuda.error_code != 0) {
    check.health = Health::kLimited;
    check.finding = "found, but it does not start (CUDA error " + std::to_string(cuda.error_code) +
                    "): jobs run on the CPU";
    check.advice = "See whether nvidia-smi works; in a container give it the GPUs (--gpus all).";
  } else {
    check.finding = "CUDA " + std::to_string(cuda.driver_cuda_version / 1000) + "." +
                    std::to_string(cuda.driver_cuda_version % 1000 / 10);
    if (cuda.driver_cuda_version < 13000) {
      check.health = Health::kLimited;
      check.advice = "The trainer is built for CUDA 13; update the driver to 580 or later.";
    }
  }
  return check;
}

HealthCheck check_gpus(const CudaProbe& cuda) {
  HealthCheck check{.name = "GPUs"};
  for (const auto& gpu : cuda.devices) {
    check.finding += (check.finding.empty() ? "" : ", ") + gpu.name + " " +
                     bytes(static_cast<double>(gpu.memory_bytes));
  }
  if (cuda.devices.empty()) {
    check.health = Health::kLimited;
    check.finding = "none";
    check.advice = "Timings on a CPU show how it works, not how fast a GPU is.";
  }
  return check;
}

// In the Python packages that ./run fetched beside the checkout, else where the system looks.
HealthCheck check_library(const std::string& name, const std::string& file,
                          const std::string& package, const std::string& purpose) {
  HealthCheck check{.name = name};
  std::error_code error;
  for (fs::path folder = program_folder(); folder.has_relative_path();
       folder = folder.parent_path()) {
    for (fs::directory_iterator python(folder / ".deps/venv/lib", error), end;
         !error && python != end; python.increment(error)) {
      const fs::path library = python->path() / "site-packages/nvidia" / package / "lib" / file;
      std::error_code unknown;
      if (!fs::exists(library, unknown)) continue;
      check.finding = library.string();
      return check;
    }
  }
  if (void* library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    check.finding = file + ", from the system";
    dlclose(library);
    return check;
  }
  check.health = Health::kLimited;
  check.finding = "not found: " + purpose;
  check.advice = "It comes with LibTorch: type ./run without --viewer.";
  return check;
}

HealthCheck check_shared_memory() {
  HealthCheck check{.name = "Shared memory"};
  struct statvfs space {};
  const fs::path folder = "/dev/shm";
  if (statvfs(folder.c_str(), &space) != 0 || access(folder.c_str(), W_OK) != 0) {
    check.health = Health::kLimited;
    check.finding = "/dev/shm is not there or not writable: NCCL cannot use it between GPUs";
    check.advice = "Mount a tmpfs on /dev/shm.";
    return check;
  }
  const double total = static_cast<double>(space.f_blocks) * static_cast<double>(space.f_frsize);
  check.finding = "/dev/shm holds " + bytes(total);
  if (total <= kLittleSharedMemory) {
    check.health = Health::kLimited;
    check.advice = "Little for NCCL; in a container use --shm-size=1g.";
  }
  return check;
}

class Socket {
 public:
  Socket() : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

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
  } else if (const auto warning = trace::network_file_system_warning(part); !warning.empty()) {
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
    check.health = Health::kLimited;
    check.finding = "unknown: " + std::string(std::strerror(errno));
    check.advice = "Name a folder on a local disk with --runs-dir.";
    return check;
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
  if (!has_display) {
    check.health = Health::kLimited;
    check.finding = "none (DISPLAY and WAYLAND_DISPLAY are not set): no window";
    check.advice = "Use the command line, ssh -X, or xvfb-run for screenshots.";
  }
  return check;
}

HealthCheck check_loopback() {
  HealthCheck check{.name = "Loopback network"};
  const Socket server;
  const Socket client;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  const bool works = server.get() >= 0 && bind(server.get(), raw, size) == 0 &&
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
  const CudaProbe cuda = probe_cuda();
  return {check_trainer(),
          check_driver(cuda),
          check_gpus(cuda),
          check_library("NCCL", "libnccl.so.2", "nccl", "no communication between GPUs"),
          check_library("CUPTI", "libcupti.so.13", "cu13", "GPU activity is not recorded"),
          check_runs_dir(context.runs_dir),
          check_disk_space(context.runs_dir),
          check_shared_memory(),
          check_loopback(),
          check_display(context.has_display)};
}

}  // namespace shardlens::app
