#include "app/launch/store_file.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>

namespace shardlens::app::launch {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStorePrefix = "store_";
// A launcher on another machine that shares the folder has no process here; its job writes.
constexpr std::chrono::minutes kLongAgo{10};

// Of "store_<process>_<time>"; 0 for all other names.
pid_t owner_of_store(std::string_view name) {
  if (!name.starts_with(kStorePrefix)) return 0;
  name.remove_prefix(kStorePrefix.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  const bool is_ours = error == std::errc() && end != name.data() + name.size() && *end == '_';
  return is_ours ? process : 0;
}

bool is_abandoned(const fs::directory_entry& file) {
  const pid_t owner = owner_of_store(file.path().filename().string());
  if (owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH) return false;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(file.path().parent_path(), error)) {
    const auto time = each.last_write_time(error);
    if (!error && fs::file_time_type::clock::now() - time < kLongAgo) return false;
  }
  return !error;
}

}  // namespace

fs::path fresh_store_file(const fs::path& run_folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return run_folder /
         (std::string(kStorePrefix) + std::to_string(getpid()) + "_" + std::to_string(now));
}

void remove_abandoned_store_files(const fs::path& runs_dir) {
  std::error_code error, ignored;
  for (fs::directory_iterator run(runs_dir, error), end; !error && run != end;
       run.increment(error)) {
    if (!run->is_directory(ignored) || run->is_symlink(ignored)) continue;
    for (fs::directory_iterator file(run->path(), ignored); !ignored && file != end;
         file.increment(ignored)) {
      if (is_abandoned(*file)) fs::remove(file->path(), ignored);
    }
  }
}

}  // namespace shardlens::app::launch
