#include "app/launch/rank_environment.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/base/wall_clock.h"
#include "trace/job/library_environment.h"
#include "trace/model/rank_outcome.h"

namespace shardlens::app::launch {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::string_view value_of(const std::vector<std::string>& environment, std::string_view name) {
  const std::string* found = find_variable(environment, name);
  return found == nullptr ? "" : std::string_view(*found).substr(name.size() + 1);
}

Variables variables_of(const trace::model::RunInfo& run, const RankPlace& place) {
  const std::string rank = std::to_string(place.rank);
  const std::string world = std::to_string(run.world_size);
  const std::string threads =
      std::to_string(trace::job::threads_of_a_rank(run.settings, run.world_size, place.cores));
  Variables variables = {
      {"RANK", rank},
      {"LOCAL_RANK", rank},
      {"WORLD_SIZE", world},
      {"LOCAL_WORLD_SIZE", world},
      {"MASTER_ADDR", "127.0.0.1"},
      // Ranks meet in a file; the contract only wants the variable to exist.
      {"MASTER_PORT", "0"},
      {"SHARDLENS_STORE_FILE", place.store_file.string()},
      {"SHARDLENS_LAUNCHER_PID", std::to_string(place.launcher_process)},
      {"OMP_NUM_THREADS", threads},
      {"MKL_NUM_THREADS", threads},
      {"GLOO_SOCKET_IFNAME", "lo"},
  };
  if (run.device == "cuda") {
    variables.emplace_back("NCCL_SOCKET_IFNAME", "lo");
    // NCCL refuses two ranks on one GPU unless they seem to be on different hosts.
    if (run.shared_gpu) variables.emplace_back("NCCL_HOSTID", "shardlens-rank-" + rank);
  }
  return variables;
}

// `variables` are ours already; the user's environment counts where no knob was set.
void add_library_variables(const std::vector<std::string>& inherited,
                           const trace::job::Settings& settings, Variables& variables,
                           std::vector<std::string>& removed) {
  const auto is_set = [&](std::string_view name) {
    return find_variable(inherited, name) != nullptr;
  };
  // What NCCL has to say against its use gets into the rank's log.
  if (!is_set("NCCL_DEBUG")) variables.emplace_back("NCCL_DEBUG", "WARN");
  for (const auto& [name, value] : trace::job::environment_changes(settings, is_set)) {
    value ? static_cast<void>(variables.emplace_back(name, *value))
          : static_cast<void>(removed.emplace_back(name));
  }
}

bool belongs_to_another_launcher(std::string_view name) {
  return name.starts_with("TORCHELASTIC_") || name.starts_with("SHARDLENS_RECORD_") ||
         name == trace::model::kOutcomeVariable || name == "GROUP_RANK" || name == "ROLE_RANK" ||
         name == "ROLE_WORLD_SIZE";
}

// What `shardlens record` gave the program that started us: its library, which is not for ranks
// that record themselves, and files in its folder.
bool is_of_recording(const std::vector<std::string>& inherited, std::string_view value) {
  const std::string folder(value_of(inherited, "SHARDLENS_RECORD_FOLDER"));
  if (folder.empty() || value.empty()) return false;
  return value == value_of(inherited, "CUDA_INJECTION64_PATH") || value.starts_with(folder + "/");
}

}  // namespace

std::vector<std::string> rank_environment(const std::vector<std::string>& inherited,
                                          const trace::model::RunInfo& run,
                                          const RankPlace& place) {
  Variables ours = variables_of(run, place);
  std::vector<std::string> removed;
  if (run.device == "cuda") add_library_variables(inherited, run.settings, ours, removed);
  std::vector<std::string> environment;
  for (const auto& entry : inherited) {
    const std::string_view name = name_of(entry);
    const bool replaced =
        std::ranges::any_of(ours, [&](const auto& v) { return v.first == name; }) ||
        std::ranges::find(removed, name) != removed.end();
    const bool is_theirs =
        belongs_to_another_launcher(name) || is_of_recording(inherited, value_of(inherited, name));
    if (!replaced && !is_theirs) environment.push_back(entry);
  }
  for (const auto& [name, value] : ours) environment.push_back(name + "=" + value);
  return environment;
}

const std::string* find_variable(const std::vector<std::string>& environment,
                                 std::string_view name) {
  const auto found = std::ranges::find(environment, name, name_of);
  return found == environment.end() ? nullptr : &*found;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStore = "store";
// A launcher on another machine that shares the folder has no process here; its job writes.
constexpr std::chrono::minutes kLongAgo{10};

// Of "store_<process>_<time>"; 0 for all other names.
pid_t owner_of_store(std::string_view name) {
  const auto parts = trace::base::split(name, '_');
  const bool is_ours = parts.size() == 3 && parts.front() == kStore;
  return is_ours ? trace::base::number_from<pid_t>(parts[1]).value_or(0) : 0;
}

bool is_abandoned(const fs::path& file) {
  const pid_t owner = owner_of_store(file.filename().string());
  if (owner <= 0 || trace::base::has_process(owner)) return false;
  std::error_code error;
  const auto beside = trace::base::entries_of(file.parent_path());
  for (const fs::path& each : beside) {
    const auto time = fs::last_write_time(each, error);
    if (!error && fs::file_time_type::clock::now() - time < kLongAgo) return false;
  }
  return !beside.empty() && !error;  // none: not even the file itself could be seen
}

}  // namespace

fs::path fresh_store_file(const fs::path& run_folder) {
  return run_folder / (std::string(kStore) + "_" + std::to_string(getpid()) + "_" +
                       std::to_string(trace::base::wall_clock_ns()));
}

void remove_abandoned_store_files(const fs::path& runs_dir) {
  std::error_code ignored;
  for (const fs::path& run : trace::base::entries_of(runs_dir)) {
    if (fs::symlink_status(run, ignored).type() != fs::file_type::directory) continue;
    for (const fs::path& file : trace::base::entries_of(run)) {
      if (is_abandoned(file)) fs::remove(file, ignored);
    }
  }
}

}  // namespace shardlens::app::launch
