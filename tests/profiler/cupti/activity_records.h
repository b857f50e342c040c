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

}  // namespace shardlens::profiler::cupti
