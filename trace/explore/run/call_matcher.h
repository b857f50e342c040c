// Finds which rows of all ranks belong to one call of a collective, again whenever ranks have new
// ones. One owner.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "trace/explore/run/run_snapshot.h"

namespace shardlens::trace::explore {

// Those of all ranks, as the others know them.
std::vector<analysis::CollectivePart> collectives_of(const RunSnapshot& run);

class CallMatcher {
 public:
  // More collectives were read.
  void forget() { is_old_ = true; }
  // Whether calls must be of all that was read, as once a run has ended; true: those that were
  // given last are not, although they must.
  bool hurry(bool hurries) {
    hurries_ = hurries;
    return hurries && is_old_;
  }
  // Gives it calls and clocks, which only all ranks' rows together tell. Unless it hurries those
  // may be of a moment ago.
  void add_to(RunSnapshot& run);

 private:
  std::shared_ptr<const analysis::CollectiveCalls> calls_;
  std::shared_ptr<const analysis::HostClocks> clocks_;
  std::chrono::steady_clock::time_point next_;
  bool is_old_ = true, hurries_ = false;
};

}  // namespace shardlens::trace::explore
