// Reads a run: its folder (live or finished) or a packed file. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "trace/model/batch.h"
#include "trace/model/result.h"
#include "trace/model/run_info.h"

namespace shardlens::trace {

class RunReader {
 public:
  // `path`: a run's folder or a packed file. Opens read-only; what a killed writer left behind is
  // copied to a temporary folder and recovered there. Errors: kMissing, kForeign, kDamaged, kNewer.
  static Result<std::unique_ptr<RunReader>> open(const std::filesystem::path& path);
  ~RunReader();

  // Read again with every call, since the launcher rewrites it.
  Result<RunInfo> info();

  // What was committed since the last call, at most up to commits made at `until_ns` (replay binds
  // this to its clock). Rank files that appear later are picked up. A long run comes in parts: ask
  // until the answer is empty. Where a rank cannot be read, the others' rows come first and the
  // error with the next call.
  Result<std::vector<Batch>> poll(std::int64_t until_ns = INT64_MAX);
  // When the first and the last commit were made; {0, 0} before the first.
  struct CommitRange {
    std::int64_t first_ns = 0, last_ns = 0;
  };
  Result<CommitRange> commit_range();
  // Starts polling from the beginning again.
  void rewind();

  // Spans, collectives, ready marks, memory and events that touch [start_ns, end_ns), of all ranks.
  // Does not change what poll() returns next. Strings are not repeated.
  Result<std::vector<Batch>> read_range(std::int64_t start_ns, std::int64_t end_ns);

  std::int64_t bytes_on_disk() const;

 private:
  struct State;
  explicit RunReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trace
