// What the kernel says of this machine and of this process, read from files whose places can be
// others. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace shardlens::app::cli {

struct SystemPlaces {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  std::filesystem::path shared_memory = "/dev/shm";
};

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

struct SystemFacts {
  std::optional<double> shared_memory_bytes;     // nothing: not there or not writable
  std::optional<std::uint64_t> open_files;       // soft limits of this process, or kUnlimited
  std::optional<std::uint64_t> open_files_most;  // the hard one, up to which it may raise it
  std::optional<std::uint64_t> locked_bytes;
  std::string clock_source;                     // "tsc"; "": not known
  std::optional<bool> is_synchronized;          // to network time, as the kernel was told
  std::optional<bool> profiling_is_restricted;  // by the driver, to administrators
  bool may_profile = false;                     // this process has the right nevertheless
};

SystemFacts read_system_facts(const SystemPlaces& places);

// Of a process: what it calls itself; "": it is not to be seen from here.
std::string process_name(const SystemPlaces& places, unsigned process_id);

}  // namespace shardlens::app::cli
