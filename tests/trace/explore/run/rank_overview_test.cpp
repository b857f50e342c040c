// Overviews against plain sums over every event, whatever was recorded in whatever order.
#include "trace/explore/run/rank_overview.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tests/trace/explore/testing/overview_oracle.h"
#include "tests/trace/explore/testing/random_recording.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/explore/explored_run.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::explore {
namespace {

using test::OverviewOracle;
using test::RecordedCommit;
using test::RecordingOptions;

const base::Interval kEver{-(std::int64_t{1} << 62), std::int64_t{1} << 62};

void expect_lanes(const RankOverview& overview, const OverviewOracle& oracle, int bits,
                  base::Interval window) {
  const auto expected = oracle.lanes(bits, window);
  for (const auto& [lane, cells] : expected) {
    SCOPED_TRACE("lane " + std::to_string(lane.lane) + " " +
                 std::string(model::to_string(lane.kind)) + " depth " + std::to_string(lane.depth));
    OverviewOracle::Cells found;
    for (const timeline::SummaryCell& cell : overview.cells(lane, bits, kEver)) {
      found[cell.start_ns] = {cell.busy_ns, cell.count, cell.longest_ns};
      ASSERT_GE(cell.busiest, 0);
      ASSERT_LE(cell.busiest, 1);
      ASSERT_GE(cell.busiest * static_cast<double>(cell.end_ns - cell.start_ns),
                0.999 * static_cast<double>(cell.busy_ns));
    }
    ASSERT_EQ(found.size(), cells.size());
    for (const auto& [at, cell] : cells) {
      ASSERT_TRUE(found.contains(at)) << at;
      EXPECT_EQ(found[at].busy_ns, cell.busy_ns) << at;
      EXPECT_EQ(found[at].count, cell.count) << at;
      ASSERT_EQ(found[at], cell) << at << ": longest " << found[at].longest_ns << " is not "
                                 << cell.longest_ns;
    }
  }
}

void expect_classes(const RankOverview& overview, const OverviewOracle& oracle, int bits,
                    base::Interval window, base::Interval extent) {
  std::map<std::int64_t, base::TimeByClass> found;
  for (const timeline::ClassCell& cell : overview.classes(bits, kEver)) {
    if (cell.ns != base::TimeByClass{}) found[cell.start_ns] = cell.ns;
  }
  const auto expected = oracle.classes(bits, window, extent);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [at, classes] : expected) {
    ASSERT_TRUE(found.contains(at)) << at;
    ASSERT_EQ(found[at], classes) << at;
  }
}

// At every zoom; nothing where the overview says that it is not complete.
void expect_right(const ExploredRun& run, int rank, const OverviewOracle& oracle,
                  bool must_be_complete = true) {
  const auto snapshot = run.snapshot();
  const RankSnapshot* const shown = snapshot->rank(rank);
  ASSERT_NE(shown, nullptr);
  const RankOverview& overview = *shown->overview;
  const base::Interval extent = with_end(shown->extent);
  const base::Interval cells = cells_around(extent, snapshot->cell_bits);
  const base::Interval window{cells.start_ns << snapshot->cell_bits,
                              cells.end_ns << snapshot->cell_bits};
  for (const int more : {0, 1, 3, 8}) {
    const int bits = snapshot->cell_bits + more;
    SCOPED_TRACE("cells of 2^" + std::to_string(bits) + " ns");
    const bool is_complete = overview.is_complete(bits, kEver);
    ASSERT_TRUE(is_complete || !must_be_complete);
    if (!is_complete) continue;
    expect_lanes(overview, oracle, bits, window);
    if (testing::Test::HasFatalFailure()) return;
    expect_classes(overview, oracle, bits, window, extent);
    if (testing::Test::HasFatalFailure()) return;
  }
}

class RankOverviews : public testing::Test {
 protected:
  std::filesystem::path new_run(const std::string& name, int ranks = 1) {
    model::RunInfo info = test::run_info(name, ranks);
    return *store::create_run(folder_.path(), info, false);
  }
  static void write(store::RowWriter& writer, const RecordedCommit& commit) {
    ASSERT_TRUE(writer.begin());
    ASSERT_TRUE(writer.write(commit.batch));
    ASSERT_TRUE(writer.commit(commit.now_ns));
  }
  static OverviewOracle record(const std::filesystem::path& run, const RecordingOptions& options) {
    OverviewOracle oracle;
    auto writer = store::RowWriter::create_file(store::rank_file(run, options.rank), options.rank);
    EXPECT_TRUE(writer);
    for (const RecordedCommit& commit : test::random_recording(options)) {
      write(*writer, commit);
      oracle.add(commit.batch);
    }
    return oracle;
  }
  static std::unique_ptr<ExploredRun> open(const std::filesystem::path& run) {
    auto opened = ExploredRun::open(run, {});
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  static void work_all(ExploredRun& run) {
    while (true) {
      const auto more = run.work();
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) return;
    }
  }

  const test::Folder folder_;
};

TEST_F(RankOverviews, AreRightWhateverTheClocksTell) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RecordingOptions options;
    options.seed = seed;
    options.late = seed % 2 == 0;
    options.long_ = seed % 4 < 2;
    options.absurd = seed == 8;
    const auto path = new_run("run " + std::to_string(seed));
    const OverviewOracle oracle = record(path, options);
    const auto run = open(path);
    expect_right(*run, 0, oracle, false);
    work_all(*run);
    expect_right(*run, 0, oracle);
  }
}

TEST_F(RankOverviews, FollowALiveRun) {
  for (const unsigned seed : {31u, 32u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RecordingOptions options;
    options.seed = seed;
    options.late = options.long_ = seed % 2 == 0;
    const auto path = new_run("live " + std::to_string(seed));
    auto writer = store::RowWriter::create_file(store::rank_file(path, 0), 0);
    ASSERT_TRUE(writer);
    OverviewOracle oracle;
    std::unique_ptr<ExploredRun> run;
    int commits = 0;
    for (const RecordedCommit& commit : test::random_recording(options)) {
      write(*writer, commit);
      oracle.add(commit.batch);
      if (!run) run = open(path);
      ASSERT_TRUE(run->refresh());
      // Not always is there time for all of it before more comes.
      for (int i = 0; i < commits % 3; ++i) ASSERT_TRUE(run->work());
      if (++commits % 3 == 0) work_all(*run);
      if (commits % 3 == 0) expect_right(*run, 0, oracle);
    }
    ASSERT_TRUE(run->refresh());
    work_all(*run);
    expect_right(*run, 0, oracle);
  }
}

TEST_F(RankOverviews, AreTheSameAfterPacking) {
  const auto path = new_run("packed", 2);
  RecordingOptions options;
  options.seed = 41;
  options.long_ = true;
  const OverviewOracle first = record(path, options);
  options.seed = 42;
  options.rank = 1;
  options.late = true;
  const OverviewOracle second = record(path, options);
  const auto packed = folder_ / "packed.shardlens";
  ASSERT_TRUE(store::pack_run(path, packed));
  const auto run = open(packed);
  work_all(*run);
  expect_right(*run, 0, first);
  expect_right(*run, 1, second);
}

TEST_F(RankOverviews, KnowNothingOfALostTransaction) {
  const auto path = new_run("lost");
  RecordingOptions options;
  options.seed = 71;
  auto writer = store::RowWriter::create_file(store::rank_file(path, 0), 0);
  ASSERT_TRUE(writer);
  OverviewOracle oracle;
  int index = 0;
  for (const RecordedCommit& commit : test::random_recording(options)) {
    if (++index == 10) {
      ASSERT_TRUE(writer->begin());
      ASSERT_TRUE(writer->write(commit.batch));
      writer->roll_back();
      continue;
    }
    write(*writer, commit);
    oracle.add(commit.batch);
  }
  const auto run = open(path);
  work_all(*run);
  expect_right(*run, 0, oracle);
}

}  // namespace
}  // namespace shardlens::trace::explore
