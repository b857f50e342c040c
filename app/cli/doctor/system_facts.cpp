#include "app/cli/doctor/system_facts.h"

#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "trace/base/file_system.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;

// linux/capability.h
constexpr unsigned kCapabilitySysAdmin = 21, kCapabilityPerfmon = 38;

// What follows `key` at the start of a line, without white space before it.
std::optional<std::string> value_of(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    const auto start = line.find_first_not_of(" \t", key.size());
    return start == std::string::npos ? "" : line.substr(start);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> limit_of(const std::string& text) {
  return text == "unlimited" ? kUnlimited : parse_number(text, 10);
}

// "Max open files            1024                 1048576              files"
void read_limits(const fs::path& file, SystemFacts& facts) {
  const auto read = [&](std::string_view key, auto& soft, auto* hard) {
    std::istringstream words(value_of(file, key).value_or(""));
    std::string first, second;
    words >> first >> second;
    soft = limit_of(first);
    if (hard != nullptr) *hard = limit_of(second);
  };
  std::optional<std::uint64_t>* none = nullptr;
  read("Max open files", facts.open_files, &facts.open_files_most);
  read("Max locked memory", facts.locked_bytes, none);
}

std::optional<bool> clock_is_synchronized() {
  timex state{};  // only asks
  const int code = adjtimex(&state);
  if (code < 0) return std::nullopt;
  return code != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

// The driver publishes one of two names of the same setting.
std::optional<bool> profiling_is_restricted(const fs::path& file) {
  for (const char* key : {"RmProfilingAdminOnly:", "NVreg_RestrictProfilingToAdminUsers:"}) {
    if (const auto value = value_of(file, key)) return *value != "0";
  }
  return std::nullopt;
}

bool may_profile(const fs::path& status) {
  const auto capabilities = value_of(status, "CapEff:");
  const auto set = capabilities ? parse_number(*capabilities, 16) : std::nullopt;
  return set && ((*set >> kCapabilitySysAdmin & 1) != 0 || (*set >> kCapabilityPerfmon & 1) != 0);
}

}  // namespace

SystemFacts read_system_facts(const SystemPlaces& places) {
  SystemFacts facts;
  struct statvfs space {};
  if (statvfs(places.shared_memory.c_str(), &space) == 0 &&
      access(places.shared_memory.c_str(), W_OK) == 0) {
    facts.shared_memory_bytes =
        static_cast<double>(space.f_blocks) * static_cast<double>(space.f_frsize);
  }
  read_limits(places.proc / "self/limits", facts);
  facts.clock_source = trace::base::first_line(
      places.sys / "devices/system/clocksource/clocksource0/current_clocksource");
  facts.is_synchronized = clock_is_synchronized();
  facts.profiling_is_restricted = profiling_is_restricted(places.proc / "driver/nvidia/params");
  facts.may_profile = may_profile(places.proc / "self/status");
  return facts;
}

std::string process_name(const SystemPlaces& places, unsigned process_id) {
  return trace::base::first_line(places.proc / std::to_string(process_id) / "comm");
}

}  // namespace shardlens::app::cli
