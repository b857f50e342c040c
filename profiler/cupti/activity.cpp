#include "profiler/cupti/activity.h"

#include <cstring>

namespace shardlens::profiler {
namespace {

// Records are packed: a reference to a member would be misaligned. A copy on the stack is as
// packed, so that each field is read by value from it.
template <typename Record>
Record copy_of(const CUpti_Activity& record) {
  Record copy;
  std::memcpy(&copy, &record, sizeof copy);
  return copy;
}

template <typename Record>
StreamKey stream_of(const Record& record) {
  return {record.deviceId, record.contextId, record.streamId};
}

std::string_view copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "copy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "copy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "copy device to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "copy host to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "copy peer to peer";
    default:
      return "copy";
  }
}

std::string_view launch_name(CUpti_CallbackId id) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return "cuLaunchKernel";
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return "cuLaunchKernelEx";
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return "cuGraphLaunch";
    default:
      return "driver call";
  }
}

std::int64_t signed_ns(std::uint64_t time) { return static_cast<std::int64_t>(time); }

KernelActivity decode_kernel(const CUpti_ActivityKernel10& record) {
  const char* name = record.name;
  return {stream_of(record), signed_ns(record.start), signed_ns(record.end), record.correlationId,
          name == nullptr ? "kernel" : name};
}

template <typename Record>
CopyActivity decode_copy(const Record& record, std::string_view name) {
  return {stream_of(record),    signed_ns(record.start), signed_ns(record.end),
          record.correlationId, signed_ns(record.bytes), name};
}

LaunchActivity decode_launch(const CUpti_ActivityAPI& record) {
  return {record.threadId, signed_ns(record.start), signed_ns(record.end), record.correlationId,
          launch_name(record.cbid)};
}

// Compiling and loading modules would happen without us too.
bool is_of_recording(CUpti_ActivityOverheadKind kind) {
  return kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH ||
         kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION;
}

}  // namespace

std::optional<Activity> decode(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return decode_kernel(copy_of<CUpti_ActivityKernel10>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto copy = copy_of<CUpti_ActivityMemcpy6>(record);
      return decode_copy(copy, copy_name(copy.copyKind));
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return decode_copy(copy_of<CUpti_ActivityMemcpyPtoP4>(record),
                         copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return decode_copy(copy_of<CUpti_ActivityMemset4>(record), "set memory");
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return decode_launch(copy_of<CUpti_ActivityAPI>(record));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto external = copy_of<CUpti_ActivityExternalCorrelation>(record);
      return ExternalActivity{external.externalKind, external.externalId, external.correlationId};
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto overhead = copy_of<CUpti_ActivityOverhead3>(record);
      if (!is_of_recording(overhead.overheadKind)) return std::nullopt;
      return OverheadActivity{signed_ns(overhead.start), signed_ns(overhead.end)};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace shardlens::profiler
