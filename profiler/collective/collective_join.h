// Joins what the host, the backend and the GPU report of one collective. The recorder's thread
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/queue/records.h"
#include "trace/model/events.h"

namespace shardlens::profiler::collective {

class CollectiveJoin {
 public:
  // CUPTI is flushed every 100 ms: a kernel that is not known so long after the host saw its
  // collective end, though one that was launched later is, will not come.
  static constexpr std::int64_t kKernelLimitNs = 5'000'000'000;
  // But it hands over full buffers: of long kernels none may come for many seconds.
  static constexpr std::int64_t kLongestKernelLimitNs = 60'000'000'000;
  // With more than this waiting (some 30 MiB) kKernelLimitNs is all they get.
  static constexpr std::size_t kMostWaiting = 65'536;

  // A host that has asked for more so long afterwards waits for no earlier one: that has ended, or
  // will never be seen to.
  static constexpr std::int64_t kAheadLimitNs = 60'000'000'000;

  // `has_detail`: whether the step of a time is recorded in detail, where it is not known yet when
  // a collective is entered; null: CollectiveEntered::detail says it.
  using HasDetail = std::function<bool(std::int64_t time_ns)>;
  explicit CollectiveJoin(int rank, HasDetail has_detail = nullptr)
      : rank_(rank), has_detail_(std::move(has_detail)) {}

  void add(const queue::CollectiveEntered& entered, std::int64_t now_ns);
  void add(const queue::CollectiveStarted& started, std::int64_t now_ns);
  void add(const queue::CollectiveEnded& ended, std::int64_t now_ns);
  void add(const queue::CollectiveLaunched& launched, std::int64_t now_ns);
  void add(const queue::LaunchEnded& ended, std::int64_t now_ns);
  void add(const queue::CollectiveObserved& observed, std::int64_t now_ns);

  // Collectives that are complete now; called once per drain of all queues. Those of which no
  // detail is recorded are only counted, in `undetailed`. Times are those of who ran it, else the
  // kernels', else, where a kernel was never announced or did not come in time, those that the host
  // observed.
  struct Finished {
    std::vector<trace::model::Collective> collectives;
    std::int64_t undetailed = 0;
  };
  Finished take_finished(std::int64_t now_ns);
  // From now on what the host observed counts at once.
  void stop_waiting() { waits_for_kernels_ = false; }
  // Entered and not ended, in the order of entering.
  std::vector<trace::model::PendingCollective> pending() const;
  // The latest completed collective of each group, where it was only counted: so that a rank that
  // stands still shows how far it came.
  std::vector<trace::model::PendingCollective> latest_undetailed() const;
  // Forgets what can never be complete since a record was lost, and returns how many: starts and
  // ends without an entering, and what has not ended although a later one of its group has, as
  // groups run theirs in order, or was asked for long afterwards.
  std::int64_t drop_incomplete(std::int64_t now_ns);

 private:
  struct Parts {
    std::optional<queue::CollectiveEntered> entered;
    std::optional<queue::CollectiveStarted> started;
    std::optional<queue::CollectiveEnded> ended;
    std::optional<queue::CollectiveTimes> observed;
    std::optional<queue::CollectiveTimes> kernels;  // around all of them
    std::optional<queue::CollectiveLaunch> chosen;  // of the first launch
    int launches = 0;
    int kernels_to_come = 0;
    std::uint64_t latest_launch = 0;
    std::int64_t first_seen_ns = 0;
    std::int64_t observed_at_ns = 0;
    std::int64_t behind_ns = 0;  // when it was first found overtaken or left behind
    bool waited = false;         // one drain passed since all was there that must be
    bool is_listed = false;      // in complete_

    bool has_ended() const { return ended || observed || (launches > 0 && kernels_to_come == 0); }
  };
  struct Kernel {
    queue::CollectiveTimes times;
    std::int64_t since_ns = 0;
  };
  struct Latest {
    std::int64_t sequence = -1;
    std::uint64_t handle = 0;
  };

  Parts& parts_of(std::uint64_t handle, std::int64_t now_ns);
  void note_complete(std::uint64_t handle, Parts& parts);
  // Whether nothing better can come any more.
  bool is_settled(Parts& parts, std::int64_t now_ns) const;
  // Whether the kernels of one that the host saw end are not waited for any longer.
  bool lacks_kernels(const Parts& parts, std::int64_t now_ns) const;
  void finish(std::uint64_t handle, const Parts& parts, Finished& finished);
  // Whether a later one of its group has ended.
  bool is_overtaken(std::uint64_t handle, const queue::CollectiveCall& call) const;
  // Whether its group's latest was asked for kAheadLimitNs after it.
  bool is_left_behind(const Parts& parts) const;
  bool is_lost(std::uint64_t handle, Parts& parts, std::int64_t now_ns) const;
  void forget_launches(std::int64_t now_ns);

  const int rank_;
  const HasDetail has_detail_;
  bool waits_for_kernels_ = true;
  std::map<std::uint64_t, Parts> parts_;  // handles grow in the order of entering
  std::vector<std::uint64_t> complete_;   // entered and ended, in the order of completion
  // By launch: the kernels that came, and the collectives that wait for theirs.
  std::map<std::uint64_t, Kernel> kernels_;
  std::uint64_t latest_kernel_ = 0;  // launches are numbered in their order
  std::multimap<std::uint64_t, std::uint64_t> launched_;
  std::map<int, Latest> latest_ended_;          // by group
  std::map<int, std::int64_t> latest_seen_ns_;  // of those entered, by group
  // By group; newer than all recorded.
  std::map<int, trace::model::PendingCollective> latest_undetailed_;
};

}  // namespace shardlens::profiler::collective
