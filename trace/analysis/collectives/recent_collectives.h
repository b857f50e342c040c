// The last collectives that one rank completed, per process group, for the diagnosis of a hang.
// Independent of the order of arrival. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace {

class RecentCollectives {
 public:
  static constexpr std::size_t kKeptPerGroup = 64;

  void add(const Collective& collective);
  void add(const PendingCollective& ended);                        // one without detail
  std::vector<Collective> all() const;                             // by group, then sequence
  const std::optional<Collective>& last() const { return last_; }  // by end

 private:
  std::map<int, std::map<std::int64_t, Collective>> by_group_;
  std::optional<Collective> last_;
};

}  // namespace shardlens::trace
