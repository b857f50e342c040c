// Which calls of ranks are one collective, and from when to when it transferred. One owner.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "trace/model/batch.h"
#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::predict {

class MatchedCalls {
 public:
  struct Key {
    int group = 0, first_rank = 0;  // of the process group: others may have the same number
    std::int64_t sequence = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Call {  // on all its ranks
    CollectiveKind kind;
    int told = 0;  // by how many ranks
    std::int64_t latest_start_ns = 0, end_ns = 0, bytes = 0;
    std::int64_t first_end_ns = std::numeric_limits<std::int64_t>::max();

    bool is_whole() const { return told == kind.ranks && end_ns >= latest_start_ns; }
    // Waiting for the last rank is no part of it.
    std::int64_t transfer_ns() const { return end_ns - latest_start_ns; }
  };

  // Of a run of `ranks` ranks: where nobody told of groups, all of them are one.
  explicit MatchedCalls(int ranks) : ranks_(ranks) {}

  void add(const model::ProcessGroup& group);
  // Returns what it is a part of. Calls of groups that have been told.
  Key add(const model::Collective& call);
  // How many ranks the call's group has.
  int ranks_of(const model::Collective& call) const;

  // Whether ranks cannot have had one clock: of more than a tenth of those that end on no rank
  // before all came, gathers of units as well as all-reduces, one of them had ended, by its own,
  // long before another came.
  bool contradict_one_clock() const;

  const Call& at(const Key& key) const { return calls_.at(key); }
  using Counts = std::function<bool(const Key&, const Call&)>;
  using LinkTime = std::function<double(const CollectiveKind&, double bytes)>;
  // What each took that all ranks told of. A group that carries out several at once (PyTorch's Gloo
  // two) gives each of them a part of its time: as much as they take together is what they would
  // take one after the other.
  // `link_ns`: for how long a call has the link of its ranks to itself, for which others, of any
  // group, wait; that waiting is left out. None: calls share no link.
  std::map<Key, double> times_ns(const LinkTime& link_ns = {}) const;
  // The same of those that count, by kind and size.
  MeasuredCollectives measured(const Counts& counts, const LinkTime& link_ns = {}) const;

 private:
  struct Group {
    int first_rank = 0, size = 0;
    std::vector<int> ranks{};  // empty: nobody told, so all of the run
  };

  // For each call that all ranks told of its transfer in nanoseconds, of time that several calls of
  // a group share an equal part.
  std::map<Key, double> parts_of_time() const;
  // How long each of those waited for the link of one of its ranks.
  std::map<Key, double> waits_for_link(const LinkTime& link_ns) const;

  int ranks_ = 1;
  std::map<std::pair<int, int>, Group> groups_;  // by rank and number
  std::map<Key, Call> calls_;
};

}  // namespace shardlens::trace::predict
