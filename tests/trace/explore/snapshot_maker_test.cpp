#include "trace/explore/snapshot_maker.h"

#include <gtest/gtest.h>

namespace shardlens::trace::explore {
namespace {

RunSnapshot run_of(std::int64_t calls) {
  RunSnapshot run;
  for (const int rank : {0, 1}) {
    RankRowsBuilder builder(rank);
    store::RowPart part;
    part.rows.process_groups = {{rank, 0, 0, 0, {1, 0}}};
    for (std::int64_t sequence = 0; sequence < calls; ++sequence) {
      model::Collective row;
      row.rank = rank;
      row.process_group = 0;
      row.sequence = sequence;
      row.function = model::CollectiveFunction::kAllReduce;
      row.start_ns = 1'000 + 100 * sequence;
      row.end_ns = row.start_ns + 50;
      part.rows.collectives.push_back(row);
      part.collective_ids.push_back(sequence);
    }
    builder.add(std::move(part));
    RankSnapshot& snapshot = run.ranks.emplace_back();
    snapshot.rank = rank;
    snapshot.rows = builder.build();
    snapshot.has_all_rows = true;
  }
  return run;
}

// So many that no other is due for a while.
TEST(CallMatcher, OfARunThatHasEndedTheLastCallsAreMatchedAtOnce) {
  constexpr std::int64_t kKnown = 20'000;
  RunSnapshot before = run_of(kKnown), after = run_of(kKnown + 1);
  CallMatcher matcher;
  matcher.add_to(before);
  EXPECT_FALSE(matcher.hurry(true)) << "these are all";
  matcher.hurry(false);
  matcher.forget();
  matcher.add_to(after);
  matcher.hurry(true);
  matcher.add_to(after);
  const auto calls_of_last = [](const RunSnapshot& run) {
    return run.calls->same_call(part_of(*run.ranks[0].rows, kKnown)).size();
  };
  EXPECT_EQ(calls_of_last(after), 2u);
  EXPECT_FALSE(matcher.hurry(true));
}

}  // namespace
}  // namespace shardlens::trace::explore
