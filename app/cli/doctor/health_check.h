// What this machine offers to the program: what works, what does not, what to do. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/doctor/system_facts.h"
#include "app/report/json.h"
#include "trace/base/result.h"

namespace shardlens::app::cli {

enum class Health {
  kGood,
  kLimited,  // the program works, without this
  kBad,      // jobs or recordings will fail
};

struct HealthCheck {
  std::string name{};
  Health health = Health::kGood;
  std::string finding{};
  std::string advice{};  // "" where all is well
};

// `check` of what works only in part, or not.
HealthCheck limited(HealthCheck check, std::string finding, std::string advice);

// Where to look; tests give other places.
struct HealthContext {
  std::filesystem::path runs_dir;
  bool has_display = false;
  std::string nvml_library = "libnvidia-ml.so.1";
  SystemPlaces places{};
};

std::vector<HealthCheck> check_health(const HealthContext& context);

// The parts, as far as they can be tested with made-up places.
// `trainer`: shardlens-rank, or why there is none; what it says goes to the one below.
HealthCheck check_text_preparation(const trace::base::Result<std::filesystem::path>& trainer);
// `said`: what `shardlens-rank --check-text` has printed.
HealthCheck text_preparation_of(std::string_view said);
HealthCheck check_runs_dir(const std::filesystem::path& runs_dir);
HealthCheck check_disk_space(const std::filesystem::path& runs_dir);
HealthCheck check_display(bool has_display);
HealthCheck check_loopback();

HealthCheck check_shared_memory(const SystemFacts& facts, const std::filesystem::path& folder);
HealthCheck check_open_files(const SystemFacts& facts);
HealthCheck check_locked_memory(const SystemFacts& facts);
HealthCheck check_clock(const SystemFacts& facts);

// The machine a figure was measured on: {"cpu", "cores", "memory_bytes", "gpus": […], "system"}
report::Json describe_machine();
// "Intel Xeon …, 2 cores, 7.8 GiB; no GPU; Linux 6.1"
std::string machine_text(const report::Json& machine);

}  // namespace shardlens::app::cli
