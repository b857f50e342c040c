// What Shardlens takes from one CUPTI record: plain values, free of CUPTI's packed types.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace shardlens::profiler {

// Where on a device something ran.
struct StreamKey {
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  auto operator<=>(const StreamKey&) const = default;
};

struct KernelActivity {
  StreamKey stream;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t correlation = 0;
  std::string_view name;  // mangled; lives as long as its module
};

struct CopyActivity {
  StreamKey stream;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t correlation = 0;
  std::int64_t bytes = 0;
  std::string_view name;  // "copy host to device", "set memory", …
};

struct LaunchActivity {
  std::uint32_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t correlation = 0;
  std::string_view name;
};

struct ExternalActivity {
  CUpti_ExternalCorrelationKind kind = CUPTI_EXTERNAL_CORRELATION_KIND_INVALID;
  std::uint64_t external_id = 0;
  std::uint32_t correlation = 0;
};

// Of CUPTI's own work.
struct OverheadActivity {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

using Activity =
    std::variant<KernelActivity, CopyActivity, LaunchActivity, ExternalActivity, OverheadActivity>;

// None for a kind that is not recorded.
std::optional<Activity> decode(const CUpti_Activity& record);

}  // namespace shardlens::profiler
