// Who kept whom waiting: waits and transfers of collectives over the ranks of their group, and what
// each rank's lateness cost the others. Definitions: docs/NUMBERS.md. Plain values, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/steps/host_clocks.h"
#include "trace/model/events.h"
#include "trace/timeline/values/event_ref.h"

namespace shardlens::trace::timeline {

struct StragglerPart {  // one rank's part in a call
  int rank = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  bool has_left = false;  // as a broadcast's root may: this and the times below as in CallWait
  // None: not known, as the hosts' clocks may have made it up.
  std::optional<std::int64_t> late_ns;  // own start − first start
  std::optional<std::int64_t> wait_ns, transfer_ns;
  EventRef ref;

  bool operator==(const StragglerPart&) const = default;
};

struct StragglerCall {
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  std::string tag;  // "bucket 3", "blocks.6 forward gather"; "" for none
  int process_group = 0;
  std::int64_t sequence = 0;
  std::int64_t step = -1;
  std::int64_t bytes = model::kNotKnown;
  std::int64_t first_start_ns = 0, latest_start_ns = 0, end_ns = 0;
  int last_rank = -1;                // started last; -1: not by more than the clocks' error
  std::int64_t wait_ns = 0;          // sum over the ranks whose wait is known
  std::vector<StragglerPart> parts;  // by rank

  bool operator==(const StragglerCall&) const = default;
  const StragglerPart* part_of(int rank) const;
  std::optional<std::int64_t> longest_wait_ns() const;
  std::optional<std::int64_t> transfer_ns() const;  // the longest over the ranks
};

// Sums over all calls that a rank took part in.
struct StragglerRank {
  int rank = 0;
  std::int64_t calls = 0;
  std::int64_t timed_calls = 0;  // of them, whose hosts' clocks can be compared
  std::int64_t times_last = 0;
  std::int64_t late_ns = 0;    // own start − first start, as far as clocks tell
  std::int64_t waited_ns = 0;  // for others
  std::int64_t caused_ns = 0;  // what the others waited in calls that it was last in
  // Of that what nobody else shares: latest start − the one before it of those that waited. Had
  // this rank come with that one, they would have begun that much earlier.
  std::int64_t alone_ns = 0;

  // Over the timed calls; none: there are none.
  std::optional<double> mean_late_ns() const {
    if (timed_calls == 0) return std::nullopt;
    return static_cast<double>(late_ns) / static_cast<double>(timed_calls);
  }
};

struct StragglerFigures {
  std::vector<StragglerCall> calls;  // by start; at most as many as were asked for
  std::vector<StragglerRank> ranks;  // by rank; those that took part in any
  std::int64_t matched = 0;          // calls that the sums are over
  // Collectives left out: without a sequence number, between two ranks alone (send, receive), or
  // not all of the group's ranks are there.
  std::int64_t unmatched = 0;
  // The greatest between hosts of a call, below which its waits and lateness are not believed;
  // kUnknownClockError: of some calls nothing tells.
  std::int64_t clock_error_ns = 0;
};

// Those with the longest waits are kept: so many calls, and with many ranks so many parts of them.
struct StragglerLimits {
  std::size_t most_calls = 20'000, most_parts = 500'000;
};

// One rank's row of a call.
struct StragglerRow {
  const model::Collective* collective = nullptr;
  EventRef ref;
  analysis::CallWait wait;  // CollectiveCalls::wait_of() it
};

// Sums calls up, one after the other, in any order. One owner.
class StragglerSums {
 public:
  explicit StragglerSums(const StragglerLimits& limits = {}) : limits_(limits) {}

  // A call of which all ranks are there, by rank. `clock_error_ns`: CollectiveCalls' of it.
  void add(std::span<const StragglerRow> rows, std::string tag, std::int64_t clock_error_ns);
  // Collectives that belong to no call, or to one of which ranks are missing.
  void add_unmatched(std::int64_t count = 1) { figures_.unmatched += count; }
  StragglerFigures take();

 private:
  StragglerLimits limits_;
  StragglerFigures figures_;
  std::map<int, StragglerRank> ranks_;
};

}  // namespace shardlens::trace::timeline
