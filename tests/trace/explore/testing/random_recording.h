// Random recordings for the tests of overviews: nested, overlapping, without length, reversed,
// out of order, late, very long, from clocks that jump, and at absurd times.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/batch.h"

namespace shardlens::trace::test {

struct RecordingOptions {
  unsigned seed = 1;
  int rank = 0;
  int commits = 14;
  std::int64_t commit_ns = 400'000'000;
  int events_per_commit = 16;
  bool late = false;    // events of the distant past, and a clock that is set back
  bool long_ = false;   // events of seconds to minutes, told when they end
  bool absurd = false;  // times and lengths that no clock tells
};

struct RecordedCommit {
  std::int64_t now_ns = 0;
  model::Batch batch;
};

std::vector<RecordedCommit> random_recording(const RecordingOptions& options);

}  // namespace shardlens::trace::test
