#include "profiler/cupti/api/activity.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "profiler/cupti/api/launch_calls.h"

namespace shardlens::profiler::cupti {
namespace {

// Records are packed: a reference to a member would be misaligned, so they are copied, up to `Last`
// and no further: an older CUPTI's record ends soon after, and so may its buffer.
#define SHARDLENS_COPY_UP_TO(Record, last, record) \
  copy_bytes<Record>(record, offsetof(Record, last) + sizeof(Record::last))

template <typename Record>
Record copy_bytes(const CUpti_Activity& record, std::size_t bytes) {
  Record copy{};
  std::memcpy(&copy, &record, bytes);
  return copy;
}

// What is read lies at the same place in the records of CUDA 12.
#define SHARDLENS_SAME_PLACE(Newer, Older, field) \
  static_assert(offsetof(Newer, field) == offsetof(Older, field))
SHARDLENS_SAME_PLACE(CUpti_ActivityKernel10, CUpti_ActivityKernel9, start);
SHARDLENS_SAME_PLACE(CUpti_ActivityKernel10, CUpti_ActivityKernel9, streamId);
SHARDLENS_SAME_PLACE(CUpti_ActivityKernel10, CUpti_ActivityKernel9, correlationId);
SHARDLENS_SAME_PLACE(CUpti_ActivityKernel10, CUpti_ActivityKernel9, name);
SHARDLENS_SAME_PLACE(CUpti_ActivityKernel10, CUpti_ActivityKernel9, graphNodeId);
SHARDLENS_SAME_PLACE(CUpti_ActivityMemcpy6, CUpti_ActivityMemcpy5, correlationId);
SHARDLENS_SAME_PLACE(CUpti_ActivityMemcpyPtoP4, CUpti_ActivityMemcpyPtoP3, correlationId);
SHARDLENS_SAME_PLACE(CUpti_ActivityMemset4, CUpti_ActivityMemset3, correlationId);
SHARDLENS_SAME_PLACE(CUpti_ActivitySynchronization2, CUpti_ActivitySynchronization, streamId);
#undef SHARDLENS_SAME_PLACE

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

template <typename Calls>
std::string_view name_in(const Calls& calls, CUpti_CallbackId id) {
  const auto found = std::ranges::find(calls, id, &LaunchCall::id);
  return found == calls.end() ? "CUDA call" : found->name;
}

std::string_view launch_name(const CUpti_ActivityAPI& record) {
  return record.kind == CUPTI_ACTIVITY_KIND_DRIVER ? name_in(kDriverLaunchCalls, record.cbid)
                                                   : name_in(kRuntimeLaunchCalls, record.cbid);
}

std::int64_t signed_ns(std::uint64_t time) { return static_cast<std::int64_t>(time); }

KernelActivity decode_kernel(const CUpti_ActivityKernel10& record) {
  const char* name = record.name;
  return {stream_of(record),    signed_ns(record.start), signed_ns(record.end),
          record.correlationId, record.graphNodeId,      name == nullptr ? "kernel" : name};
}

template <typename Record>
CopyActivity decode_copy(const Record& record, std::string_view name) {
  return {stream_of(record),    signed_ns(record.start), signed_ns(record.end),
          record.correlationId, signed_ns(record.bytes), name};
}

LaunchActivity decode_launch(const CUpti_ActivityAPI& record) {
  return {record.threadId, signed_ns(record.start), signed_ns(record.end), record.correlationId,
          launch_name(record)};
}

std::string_view wait_name(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return "cuEventSynchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return "cuStreamSynchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "cuCtxSynchronize";
    default:
      return "";  // streams that wait for events: the host does not, and there are very many
  }
}

std::optional<Activity> decode_wait(const CUpti_ActivitySynchronization2& record) {
  const std::string_view name = wait_name(record.type);
  if (name.empty()) return std::nullopt;
  return WaitActivity{record.streamId, signed_ns(record.start), signed_ns(record.end),
                      record.correlationId, name};
}

}  // namespace

std::optional<Activity> decode(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return decode_kernel(SHARDLENS_COPY_UP_TO(CUpti_ActivityKernel10, graphNodeId, record));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto copy = SHARDLENS_COPY_UP_TO(CUpti_ActivityMemcpy6, correlationId, record);
      return decode_copy(copy, copy_name(copy.copyKind));
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return decode_copy(SHARDLENS_COPY_UP_TO(CUpti_ActivityMemcpyPtoP4, correlationId, record),
                         copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return decode_copy(SHARDLENS_COPY_UP_TO(CUpti_ActivityMemset4, correlationId, record),
                         "set memory");
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return decode_launch(SHARDLENS_COPY_UP_TO(CUpti_ActivityAPI, correlationId, record));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto external =
          SHARDLENS_COPY_UP_TO(CUpti_ActivityExternalCorrelation, correlationId, record);
      return ExternalActivity{external.externalKind, external.externalId, external.correlationId};
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return decode_wait(SHARDLENS_COPY_UP_TO(CUpti_ActivitySynchronization2, streamId, record));
    default:
      return std::nullopt;
  }
}

bool is_known(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
    case CUPTI_ACTIVITY_KIND_MEMSET:
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return true;
    default:
      return false;
  }
}

}  // namespace shardlens::profiler::cupti
