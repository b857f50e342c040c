// Joins what the host, the backend's start and the backend's end report of one collective.
// The recorder's thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profiler/records.h"
#include "trace/model/events.h"

namespace shardlens::profiler {

class CollectiveJoin {
 public:
  explicit CollectiveJoin(int rank) : rank_(rank) {}

  void add(const CollectiveEntered& entered, std::int64_t now_ns);
  void add(const CollectiveStarted& started, std::int64_t now_ns);
  void add(const CollectiveEnded& ended, std::int64_t now_ns);

  // Collectives that are complete now; called once per drain of all queues. Those that were entered
  // while no detail was recorded are only counted, in `undetailed`.
  struct Finished {
    std::vector<trace::Collective> collectives;
    std::int64_t undetailed = 0;
  };
  Finished take_finished();
  // Entered and not ended, in the order of entering.
  std::vector<trace::PendingCollective> pending() const;
  // The latest completed collective of each group, where it was only counted and not given before:
  // so that a rank that stands still shows how far it came.
  std::vector<trace::Collective> take_latest_undetailed();
  // Forgets what can never be complete since a record was lost, and returns how many: starts and
  // ends without an entering, and what has not ended although a later one of its group has, as
  // groups run theirs in order.
  std::int64_t drop_incomplete(std::int64_t now_ns);

 private:
  struct Parts {
    std::optional<CollectiveEntered> entered;
    std::optional<CollectiveStarted> started;
    std::optional<CollectiveEnded> ended;
    std::int64_t first_seen_ns = 0;
    bool waited = false;     // one drain passed since both ends were there
    bool overtaken = false;  // one drain passed since a later one of the group had ended
  };
  Parts& parts_of(std::uint64_t handle, std::int64_t now_ns);
  void note_complete(std::uint64_t handle, const Parts& parts);
  void finish(const Parts& parts, Finished& finished);
  bool is_overtaken(Parts& parts) const;

  const int rank_;
  std::map<std::uint64_t, Parts> parts_;      // handles grow in the order of entering
  std::vector<std::uint64_t> complete_;       // entered and ended, in the order of completion
  std::map<int, std::int64_t> latest_ended_;  // sequence, by group
  std::map<int, trace::Collective> latest_undetailed_;  // by group; newer than all recorded
};

}  // namespace shardlens::profiler
