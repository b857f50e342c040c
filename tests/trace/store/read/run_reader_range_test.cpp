// From when to when a run is played: until when its ranks only started, and its commits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/model/batch.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::store {
namespace {

using test::Folder;

std::vector<model::Batch> polled(RunReader& reader, std::int64_t until_ns) {
  return reader.poll(until_ns).value();
}

// Of the bundled run: its ranks take a second to start.
TEST(CommitRange, TellsUntilWhenRanksDidNothingButStart) {
  const auto reader =
      RunReader::open(std::filesystem::path(SHARDLENS_BUNDLED_RUNS) / "two_ranks.shardlens")
          .value();
  const auto range = reader->commit_range();
  ASSERT_TRUE(range);
  EXPECT_GT(range->idle_until_ns, range->first_ns + 900'000'000);
  EXPECT_LT(range->idle_until_ns, range->last_ns - 5'000'000'000);
  const auto did_nothing = [](const model::Batch& batch) {
    return batch.steps.empty() && batch.spans.empty() && batch.collectives.empty() &&
           batch.events.empty();
  };
  EXPECT_TRUE(std::ranges::all_of(polled(*reader, range->idle_until_ns), did_nothing));
  const auto next = polled(*reader, range->idle_until_ns + 300'000'000);
  EXPECT_FALSE(std::ranges::all_of(next, did_nothing));
}

// Of a rank that committed these at 7, 8, … ns.
RunReader::CommitRange range_of(const std::vector<model::Batch>& commits) {
  const Folder folder;
  model::RunInfo info = test::run_info("committed", 1);
  const auto run = create_run(folder.path(), info, false);
  auto writer = RowWriter::create_file(rank_file(run.value(), 0), 0);
  EXPECT_TRUE(writer);
  for (std::int64_t time_ns = 7; const model::Batch& batch : commits) {
    EXPECT_TRUE(writer->begin() && writer->write(batch) && writer->commit(time_ns++));
  }
  return RunReader::open(*run).value()->commit_range().value();
}

TEST(CommitRange, TellsNoIdleTimeWhereTheFirstCommitHasWorkOrNoneHas) {
  model::Batch step;
  step.steps.push_back({});
  const auto idle_until_ns = [](const std::vector<model::Batch>& commits) {
    return range_of(commits).idle_until_ns;
  };
  EXPECT_EQ(idle_until_ns({{}, {}, step, {}}), 8);
  EXPECT_EQ(idle_until_ns({step, {}, {}}), 7);
  EXPECT_EQ(idle_until_ns({{}, {}, {}}), 7) << "all of it is played";
  EXPECT_EQ(range_of({step, {}}).last_ns, 8);
}

}  // namespace
}  // namespace shardlens::trace::store
