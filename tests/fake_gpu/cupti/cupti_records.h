// CUPTI's side of the made-up GPU: which records are wanted, and their way into the buffers of who
// asked. A record is given out once what it tells of has ended. Any thread.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace shardlens::fake_gpu {

bool is_wanted(CUpti_ActivityKind kind);
// `kind`: the runtime's calls or the driver's.
bool is_call_wanted(CUpti_ActivityKind kind, CUpti_CallbackId call);
std::uint32_t next_correlation();

// A record as CUPTI lays it out, of what ends at `end_ns`.
void put_record(const void* record, std::size_t bytes, std::int64_t end_ns);

template <typename Record>
void put(const Record& record, std::int64_t end_ns) {
  put_record(&record, sizeof record, end_ns);
}

// The external ids that the calling thread has pushed, for a call with this correlation.
void put_external_ids(std::uint32_t correlation, std::int64_t end_ns);

}  // namespace shardlens::fake_gpu
