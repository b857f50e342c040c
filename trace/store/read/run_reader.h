// Reads a run: its folder (live or finished) or a packed file. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/batch.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::store {

class RunReader {
 public:
  // `path`: a run's folder or a packed file. Opens read-only; what a killed writer left behind is
  // copied to a temporary folder and recovered there. Errors: kMissing, kForeign, kDamaged,
  // kOtherVersion. A rank's file that cannot be opened is an error of poll() where another can.
  static base::Result<std::unique_ptr<RunReader>> open(const std::filesystem::path& path);
  ~RunReader();

  // Read again with every call, since the launcher rewrites it.
  base::Result<model::RunInfo> info();

  // What was committed since the last call, at most up to commits made at `until_ns` (replay binds
  // this to its clock). Rank files that appear later are picked up. A long run comes in parts, and
  // one of many ranks some ranks at a time, so that what is in memory at once has `most_events`, or
  // one rank's part more: ask until the answer is empty. Where a rank cannot be read, the error
  // comes when the others have nothing left.
  static constexpr std::int64_t kMostEvents = 1 << 19;
  base::Result<std::vector<model::Batch>> poll(std::int64_t until_ns = INT64_MAX,
                                               std::int64_t most_events = kMostEvents);
  // When the first and the last commit were made, and until when no rank had done anything yet but
  // start, or the first where none ever did; all 0 before the first.
  struct CommitRange {
    std::int64_t first_ns = 0, idle_until_ns = 0, last_ns = 0;
  };
  base::Result<CommitRange> commit_range();
  // Starts polling from the beginning again.
  void rewind();

  // Spans, collectives, ready marks, memory and events that touch [start_ns, end_ns), a rank at a
  // time: of a run of a thousand they need not be in memory at once. At most up to commits made at
  // `until_ns`, as of poll(), whose next answer this does not change. Strings are not repeated.
  // Ranks that cannot be read are left out, here and below, as long as another can be.
  base::Result<void> read_range(std::int64_t start_ns, std::int64_t end_ns,
                                const std::function<void(const model::Batch&)>& take,
                                std::int64_t until_ns = INT64_MAX);

  // Rows that hold for the whole run (strings, groups, buckets, units, ranks) and the log, a rank
  // at a time: what poll() would give of them, only before the first poll() or after rewind().
  base::Result<void> read_facts(const std::function<void(const model::Batch&)>& take);

  // All that tells whether a job hangs, a rank at a time: the steps that were committed since the
  // last call, the heartbeat, and the rank's own row where that is new. In place of poll().
  base::Result<void> read_pulse(const std::function<void(const model::Batch&)>& take);

  // Another run has its place by now, as after an import with --overwrite. What was opened can
  // still be read: open again.
  bool is_replaced() const;
  std::int64_t bytes_on_disk() const;
  // Ranks whose rows came without an error so far, and what is wrong with each of the others.
  int readable_ranks() const;
  std::vector<std::string> problems() const;

 private:
  struct State;
  explicit RunReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Polls to the end and hands over everything that can be read. Returns one text for each rank that
// cannot, or not to its end; its step counts come from the others then. Error: there is nothing
// else.
base::Result<std::vector<std::string>> read_everything(
    RunReader& reader, const std::function<void(const model::Batch&)>& take);
// What a run's info says once that is known: which ranks are missing, and that a step is complete
// without them.
model::RunInfo without_unreadable(model::RunInfo info, std::vector<std::string> problems,
                                  int readable_ranks);

}  // namespace shardlens::trace::store
