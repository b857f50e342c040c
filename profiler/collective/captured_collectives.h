// What CUDA graphs have captured of collectives, and a row for each of their replays. The
// recorder's thread only.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/queue/records.h"
#include "trace/model/events.h"

namespace shardlens::profiler::collective {

class CapturedCollectives {
 public:
  // Programs that capture again and again: beyond so many (10 MiB) the oldest are forgotten.
  static constexpr std::size_t kMostCaptured = 65'536;
  // The queues are drained every 50 ms: what a replayed kernel carries is known by then, or never.
  static constexpr std::int64_t kReplayLimitNs = 1'000'000'000;
  // What can be told apart by number: collectives of one launch, launches of one communicator.
  static constexpr std::int64_t kMostOfLaunch = 1 << 8, kMostLaunches = 1 << 16;

  explicit CapturedCollectives(int rank) : rank_(rank) {}

  void add(const queue::CollectiveCaptured& captured);
  void add(const queue::CapturedLaunched& launched);
  void add(const queue::CollectiveReplay& replay, std::int64_t now_ns);

  // Called once per drain of all queues. A replay of what is not known makes none: its kernel is
  // shown all the same.
  std::vector<trace::model::Collective> take_finished(std::int64_t now_ns);

  // The same on all ranks, whatever else they do. `index`: of the collective among those of its
  // launch. -1 where any of the numbers is not known.
  static std::int64_t sequence_of(std::int64_t index, const queue::CollectiveReplay& replay);

 private:
  struct Captured {
    bool is_known = false;
    queue::CollectiveCall call;
    queue::CollectiveLaunch launch;
  };
  struct Waiting {
    queue::CollectiveReplay replay;
    std::int64_t since_ns = 0;
  };

  Captured& captured_of(std::uint64_t handle);
  void carry(std::uint64_t handle, Captured& captured, std::uint64_t launch);
  // False: not all that its kernel carries is known.
  bool make_rows(const queue::CollectiveReplay& replay,
                 std::vector<trace::model::Collective>& rows) const;
  trace::model::Collective row_of(const Captured& captured,
                                  const queue::CollectiveReplay& replay) const;

  const int rank_;
  std::map<std::uint64_t, Captured> captured_;             // handles grow
  std::multimap<std::uint64_t, std::uint64_t> by_launch_;  // handles
  std::vector<Waiting> replays_;
};

}  // namespace shardlens::profiler::collective
