// What Shardlens takes from one CUPTI record: plain values, free of CUPTI's packed types.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace shardlens::profiler::cupti {

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
  std::uint64_t graph_node = 0;  // of the CUDA graph that launched it; 0: none
  std::string_view name;         // mangled; lives as long as its module
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

// A call in which the host waited for the GPU.
struct WaitActivity {
  static constexpr std::uint32_t kNoStream = UINT32_MAX;

  std::uint32_t stream = kNoStream;  // that it waited for
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t correlation = 0;
  std::string_view name;
};

using Activity =
    std::variant<KernelActivity, CopyActivity, LaunchActivity, ExternalActivity, WaitActivity>;

// None for what is not recorded. Reads only fields that records of CUDA 12.0 to 13.x begin with.
std::optional<Activity> decode(const CUpti_Activity& record);
// Whether decode() knows what to make of the kind, if only to leave it out.
bool is_known(CUpti_ActivityKind kind);

}  // namespace shardlens::profiler::cupti
