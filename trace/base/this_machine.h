// The machine that this process runs on. Any thread.
#pragma once

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

#include "trace/base/checksum.h"

namespace shardlens::trace::base {

// "": it has none.
inline std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, HOST_NAME_MAX) == 0 ? name : "";
}

// False: no process of this machine has the number.
inline bool has_process(std::int64_t number) {
  const bool may_be = number > 0 && std::in_range<pid_t>(number);
  return may_be && (kill(static_cast<pid_t>(number), 0) == 0 || errno != ESRCH);
}

// What /proc/<process>/stat says behind the process's name, which may hold anything: its state and
// what follows, see proc(5). "": it cannot be read.
inline std::string process_stat(std::int64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(") ");
  return name_end == std::string::npos ? "" : stat.substr(name_end + 2);
}

// Tells texts of this machine apart without giving them away: 64 bits of the text, of
// /etc/machine-id, 128 bits by chance that are not for others to see, and of the host's name, for
// containers that have the id of their image. "": the machine has no id.
inline std::string private_mark(const std::string& text) {
  std::ifstream file("/etc/machine-id");
  std::string id;
  std::getline(file, id);
  constexpr std::size_t kDigits = 32;  // else "uninitialized"
  if (id.size() != kDigits) return "";
  return checksum_text(checksum_of("shardlens " + text + " " + id + " " + host_name()));
}

// Tells machines apart without naming them.
inline std::string machine_mark() { return private_mark("machine"); }

// 0: not known.
inline std::int64_t memory_bytes() {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : 0;
}

// "AMD EPYC 9654 96-Core Processor"; "": not known.
inline std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace shardlens::trace::base
