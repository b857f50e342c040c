// Collectives as statistics take them, without a file that has them. Pure functions.
#pragma once

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "trace/explore/run/run_snapshot.h"

namespace shardlens::trace::test {

// Row ids count from `first_id` on; nothing hides any of them.
inline std::shared_ptr<explore::RankRows> rows_of(int rank, std::vector<model::Collective> calls,
                                                  std::int64_t first_id = 0) {
  auto rows = std::make_shared<explore::RankRows>();
  rows->rank = rank;
  rows->collectives.ids.resize(calls.size());
  std::iota(rows->collectives.ids.begin(), rows->collectives.ids.end(), first_id);
  rows->collectives.rows = std::move(calls);
  return rows;
}

// In order of the ranks.
inline void add_rank(explore::RunSnapshot& run, std::shared_ptr<const explore::RankRows> rows) {
  explore::RankSnapshot& rank = run.ranks.emplace_back();
  rank.rank = rows->rank;
  rank.exposure = std::make_shared<const std::vector<base::TimeClass>>(rows->collectives.size(),
                                                                       base::TimeClass::kExposed);
  rank.rows = std::move(rows);
}

inline void match_calls(explore::RunSnapshot& run) {
  run.calls = std::make_shared<const analysis::CollectiveCalls>(explore::collectives_of(run));
}

// Of a run's bulk events alone.
inline explore::RunSnapshot snapshot_of(store::EventStore& store) {
  explore::RunSnapshot run;
  run.store = &store;
  return run;
}

}  // namespace shardlens::trace::test
