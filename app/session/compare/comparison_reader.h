// Reads runs that are to be compared, and works out what differs. Slow calls: a worker owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/launch/program_files.h"
#include "app/session/runs/ledger.h"
#include "app/session/runs/library_run.h"
#include "app/session/watch/run_follower.h"
#include "trace/analysis/compare/named_times.h"
#include "trace/analysis/figures/figures.h"
#include "trace/base/result.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// Runs of a library that tell how far two runs lie apart by chance: those of the job of `first` and
// `second`, without these two: all of which the library has kept what is needed; of the rest, which
// are read, the newest few that did the same as one of the two, and then the newest others, as long
// as not much is to be read. Where both came with the program, those that came along instead of the
// library's.
std::vector<LibraryRun> siblings_of(const trace::analysis::RunFigures& first,
                                    const trace::analysis::RunFigures& second,
                                    const std::filesystem::path& runs_dir,
                                    const std::filesystem::path& examples = launch::bundled_runs());

struct ComparisonQuestion {
  struct Run {
    std::string folder;
    RunLabel label;
    bool operator==(const Run&) const = default;
  };
  std::vector<Run> runs;           // the base first
  std::int64_t step = -1;          // to be shown of each; -1: a typical one of each
  std::filesystem::path runs_dir;  // whose runs tell how far two lie apart by chance
  std::size_t ended_runs = 0;      // in there: with others that may be another distance
};

// About these runs, by what the ledger calls them now.
std::vector<ComparisonQuestion::Run> compared_runs(const std::vector<std::string>& folders,
                                                   LedgerRows rows);
// What is shown until the first of the runs has been read.
ui::state::ComparisonView unread_comparison(const ComparisonQuestion& question);

class ComparisonReader {
 public:
  using OpenRun = std::function<trace::base::Result<std::unique_ptr<RunFollower>>(
      const std::filesystem::path& run)>;

  // `open`: for tests.
  explicit ComparisonReader(OpenRun open = RunFollower::open) : open_(std::move(open)) {}

  // `publish` gets more and more of the answer; `wanted`, asked in between: false gives up. What
  // was read of a run before is not read again; what could not be is tried again, and until then
  // the answer says why it could not.
  void answer(const ComparisonQuestion& question, const std::function<bool()>& wanted,
              const std::function<void(ui::state::ComparisonView)>& publish);

 private:
  using View = std::shared_ptr<const ui::state::RunView>;
  using Difference = std::shared_ptr<const trace::analysis::RunDifference>;
  // What a difference was made of.
  struct Compared {
    std::uint64_t base = 0, run = 0;  // versions
    std::size_t ended_runs = 0;
    bool operator==(const Compared&) const = default;
  };
  struct Feed {
    std::unique_ptr<RunFollower> follower;
    RunLabel label;
    std::int64_t step = -1;
    View view;                                           // null: never read
    std::string problem{};                               // why not, when it was last tried
    std::optional<trace::analysis::NamedTimes> times{};  // none: not read, or not to be had
    std::uint64_t version = 0;  // of all this but for the step; no two runs have the same
    Compared compared{};
    Difference difference{};  // from the base; null: not compared
  };
  trace::base::Result<View> read(const ComparisonQuestion::Run& run, std::int64_t step);
  void tell_known(ui::state::ComparedRun& run) const;
  // How question.runs[index] differs from the first run. Both must have been read.
  Difference difference(const ComparisonQuestion& question, std::size_t index);
  const trace::analysis::NamedTimes* times_of(const std::string& folder) const;

  const OpenRun open_;
  std::map<std::string, Feed> feeds_;  // by folder
  std::uint64_t last_version_ = 0;
};

// From the files in the folder that `run` names.
trace::base::Result<trace::analysis::NamedTimes> read_named_times(
    const trace::analysis::RunFigures& run);

}  // namespace shardlens::app::session
