#include "trace/tuning/cores.h"

#include <algorithm>
#include <charconv>

namespace shardlens::trace::tuning {

std::optional<std::int64_t> cores_named(std::string_view device_name) {
  constexpr std::string_view kCores = " cores", kComma = ", ";
  if (!device_name.ends_with(kCores)) return std::nullopt;
  device_name.remove_suffix(kCores.size());
  const auto comma = device_name.rfind(kComma);
  if (comma == device_name.npos) return std::nullopt;
  device_name.remove_prefix(comma + kComma.size());
  std::int64_t cores = 0;
  const char* const end = device_name.data() + device_name.size();
  const auto [read, error] = std::from_chars(device_name.data(), end, cores);
  if (error != std::errc() || read != end || cores < 1) return std::nullopt;
  return cores;
}

double cores_of_a_rank(const job::Settings& settings, std::int64_t cores) {
  const auto ranks = static_cast<double>(std::max<std::int64_t>(1, settings.ranks));
  const auto all = static_cast<double>(cores);
  // As the launcher chooses them.
  const double threads = settings.threads_per_rank == job::kAuto
                             ? std::max(1.0, static_cast<double>(cores / settings.ranks))
                             : static_cast<double>(settings.threads_per_rank);
  return std::min(threads, all / ranks);
}

}  // namespace shardlens::trace::tuning
