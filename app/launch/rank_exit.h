// How ranks ended, what they said at last, and which of them is the reason why a job failed. Any
// thread.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/analysis/hang/hang_diagnosis.h"
#include "trace/model/rank_outcome.h"
#include "trace/model/run_info.h"

namespace shardlens::app::launch {

struct RankExit {
  int rank = 0;
  int code = 0;
  int signal = 0;      // that killed it; 0: it left by itself, with `code`
  bool asked = false;  // after the launcher had told it to leave
  std::chrono::steady_clock::time_point time;
  std::string message;                               // what it said at last (last_message())
  bool says_why = false;                             // it is an error, not just the last line
  std::optional<trace::model::RankOutcome> outcome;  // what it told of itself; none: nothing

  bool failed() const { return code != 0 || signal != 0 || left_unfinished(); }
  // In a job that is being stopped: SIGTERM is what ends a rank that was told to leave before it
  // had begun.
  bool failed_to_leave() const { return failed() && !(asked && signal == SIGTERM); }
  // It ended without an error, but before its work was done.
  bool left_unfinished() const { return code == 0 && signal == 0 && outcome && !outcome->finished; }
};

// Exits closer together than this may be in either order.
inline constexpr std::chrono::milliseconds kNearTie{300};

// The rank whose end brought the others down: the first that died. Peers of a dead rank fail within
// milliseconds themselves, so at near-ties one that was killed, or failed by itself, comes before
// one that lost a connection. nullptr: none failed.
const RankExit* first_failure(std::span<const RankExit> exits);

// Whether a rank gave up waiting for others in a collective. It need not be the first that left:
// the others lose their connection to it, and may end sooner.
bool any_ran_out_of_patience(std::span<const RankExit> exits);

// "rank 1 failed: <its message>", "rank 1 was killed by SIGSEGV: …"
std::string describe(const RankExit& exit);

// What the files of a run that has just failed tell. The cause is kNone where they tell nothing,
// cannot be read, or are too long to be read at once.
trace::analysis::HangDiagnosis diagnose_files(const std::filesystem::path& folder,
                                              const trace::model::RunInfo& ended);

// "rank 0 failed: … timed out; rank 1 never arrived". The reason itself where no rank stands out or
// it says already that this rank stands still.
std::string with_culprit(std::string reason, const trace::analysis::HangDiagnosis& diagnosis);

// At most `count` lines, the last one last; empty if there is no such file.
std::vector<std::string> log_tail(const std::filesystem::path& log, std::size_t count);

// What a rank said at last: the text of its last "error: " line, else what LibTorch's watchdog
// first said of a collective that did not end, else its last line outside of stack traces, which
// need not say why it ended.
struct LastWords {
  std::string text;
  bool is_error = false;  // one of the first two
};
LastWords last_message(const std::filesystem::path& log);

}  // namespace shardlens::app::launch
