// What RunReader::read_range() gives, all at once. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/store/read/run_reader.h"

namespace shardlens::trace::test {

inline Result<std::vector<Batch>> batches_in_range(RunReader& reader, std::int64_t start_ns,
                                                   std::int64_t end_ns) {
  std::vector<Batch> batches;
  TRY(reader.read_range(start_ns, end_ns, [&](const Batch& batch) { batches.push_back(batch); }));
  return batches;
}

}  // namespace shardlens::trace::test
