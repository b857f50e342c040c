// What RunReader::read_range() gives, all at once. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/store/read/run_reader.h"

namespace shardlens::trace::test {

inline base::Result<std::vector<model::Batch>> batches_in_range(store::RunReader& reader,
                                                                std::int64_t start_ns,
                                                                std::int64_t end_ns,
                                                                std::int64_t until_ns = INT64_MAX) {
  std::vector<model::Batch> batches;
  TRY(reader.read_range(
      start_ns, end_ns, [&](const model::Batch& batch) { batches.push_back(batch); }, until_ns));
  return batches;
}

}  // namespace shardlens::trace::test
