// The last collectives that one rank completed, per process group, for the diagnosis of a hang.
// Independent of the order of arrival. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::analysis {

class RecentCollectives {
 public:
  static constexpr std::size_t kKeptPerGroup = 64;

  void add(const model::Collective& collective);
  void add(const model::PendingCollective& ended);                        // one without detail
  std::vector<model::Collective> all() const;                             // by group, then sequence
  const std::optional<model::Collective>& last() const { return last_; }  // by end

 private:
  std::map<int, std::map<std::int64_t, model::Collective>> by_group_;
  std::optional<model::Collective> last_;
};

}  // namespace shardlens::trace::analysis
