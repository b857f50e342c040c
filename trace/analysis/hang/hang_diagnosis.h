// Why a job stands still: per rank and process group the last collective entered and the last
// completed, and one sentence that names the rank to look at. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

struct CollectiveCallFigures {
  std::int64_t sequence = -1;
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  std::int64_t bytes = model::kNotKnown;
  std::string tag;  // "bucket 3", "loss", …; "" for none
  base::Phase phase = base::Phase::kOther;
  std::int64_t step = -1;
};

struct RankInGroup {
  int rank = 0;
  int group = 0;
  std::string group_name;
  std::optional<CollectiveCallFigures> last_entered;
  std::optional<CollectiveCallFigures> last_completed;
};

enum class HangCause : std::uint8_t {
  kNone,        // no rank waits in a collective
  kMismatch,    // ranks entered different collectives under the same sequence number
  kSkipped,     // … because one left a collective out
  kStopped,     // a rank shows no sign of life
  kNotArrived,  // a rank is alive and does not enter what the others wait in
  kSlow,        // all have entered it: the collective itself does not end
};

struct HangDiagnosis {
  HangCause cause = HangCause::kNone;
  int rank = -1;                    // the one to look at; -1: none stands out
  std::string sentence;             // without a full stop; "" for kNone
  std::vector<RankInGroup> states;  // by group, then rank
};

// `now_ns`: the clock of a live run; 0 takes the latest heartbeat, as for a run that has ended.
HangDiagnosis diagnose_hang(const RunFigures& figures, const model::StringTable& strings,
                            std::int64_t now_ns = 0);

// The states as lines for a log or a terminal: "rank 1, world: entered …; completed …".
std::string state_text(const RankInGroup& state);

}  // namespace shardlens::trace::analysis
