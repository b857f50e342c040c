// A chunk of a run that was not decoded. Plain value, any thread.
#pragma once

#include <cstdint>

#include "trace/model/events.h"
#include "trace/store/chunk_codec.h"

namespace shardlens::trace {

struct ChunkEntry {
  int rank = 0;
  int lane = 0;
  EventKind kind = EventKind::kKernel;
  std::int64_t row_id = 0;
  ChunkHeader header;
  int file = 0;  // of the run's files
};

}  // namespace shardlens::trace
