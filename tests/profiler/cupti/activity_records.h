// CUPTI's records with the fields that are read. For tests.
#pragma once

#include <cupti.h>

#include <cstdint>

#include "profiler/cupti/activity_join.h"

namespace shardlens::profiler::cupti {

inline CUpti_ActivityKernel10 kernel_record(std::uint32_t correlation, const char* name,
                                            std::int64_t start_ns = 1'000,
                                            std::int64_t end_ns = 1'500) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = static_cast<std::uint64_t>(start_ns);
  record.end = static_cast<std::uint64_t>(end_ns);
  record.deviceId = 1;
  record.contextId = 2;
  record.streamId = 7;
  record.correlationId = correlation;
  record.name = name;
  return record;
}

inline CUpti_ActivityExternalCorrelation external_record(std::uint64_t launch,
                                                         std::uint32_t correlation) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = kLaunchCorrelation;
  record.externalId = launch;
  record.correlationId = correlation;
  return record;
}

inline CUpti_ActivitySynchronization2 wait_record(CUpti_ActivitySynchronizationType type,
                                                  std::uint32_t stream, std::int64_t start_ns,
                                                  std::int64_t end_ns) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = type;
  record.start = static_cast<std::uint64_t>(start_ns);
  record.end = static_cast<std::uint64_t>(end_ns);
  record.correlationId = 31;
  record.streamId = stream;
  return record;
}

inline CUpti_ActivityMarker2 marker_record(CUpti_ActivityFlag part, std::uint32_t id,
                                           std::int64_t time_ns, const char* name = nullptr,
                                           const char* domain = nullptr) {
  CUpti_ActivityMarker2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MARKER;
  record.flags = part;
  record.id = id;
  record.timestamp = static_cast<std::uint64_t>(time_ns);
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.threadId = 77;
  record.name = name;
  record.domain = domain;
  return record;
}

inline CUpti_ActivityMemory4 memory_record(CUpti_ActivityMemoryOperationType operation,
                                           std::uint64_t address, std::uint64_t bytes,
                                           std::int64_t time_ns) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = operation;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = address;
  record.bytes = bytes;
  record.timestamp = static_cast<std::uint64_t>(time_ns);
  record.deviceId = 1;
  return record;
}

}  // namespace shardlens::profiler::cupti
