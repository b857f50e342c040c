// Events of a run that goes on, of a query that is stopped, and of files that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/store/testing/known_events.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(EventTables, ShowWhatARunningJobHasCommitted) {
  model::RunInfo info = test::run_info("live", 1);
  const auto run = *create_run(folder_->path(), info, false);
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  for (int commit = 1; commit <= 3; ++commit) {
    model::Batch batch;
    if (commit == 1) batch.strings = {{0, 1, "live"}};
    batch.events = {{0, 0, model::EventKind::kKernel, {{kBegin + commit, 5, 1, 0, 0, 0}}}};
    ASSERT_TRUE(writer->begin());
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit(kBegin + commit));
    const auto count = query_run(run, "select count(*), min(name) from kernel where name = 'live'");
    ASSERT_TRUE(count) << count.error().message;
    EXPECT_EQ(count->rows[0][0], QueryValue(std::int64_t{commit}));
  }
}

TEST_F(EventTables, EndAtOnceWhenInterrupted) {
  QueryOptions options;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 4; };
  const auto stopped =
      query_run(run_, "select name, sum(duration_ns) from kernel group by name", options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
  EXPECT_LT(asked, 8);
}

TEST_F(EventTables, FailOnlyWhereTheRowOfADamagedChunkWouldBeNeeded) {
  for (const std::string damage :
       {"kind = 'kernol'", "count = -1", "count = 1 << 50", "rank = 1 << 40",
        "lane = lane + (1 << 32)", "last_ns = first_ns - 1"}) {
    const fs::path copy = *folder_ / "headers.shardlens";
    fs::copy_file(packed_, copy, fs::copy_options::overwrite_existing);
    test::change_file(
        copy, "update chunk set " + damage + " where rank = 1 and kind = 'kernel' and lane = 1");
    for (const char* sql : {"select count(*) from kernel", "select sum(duration_ns) from kernel",
                            "select name, count(*) from kernel group by name"}) {
      const auto failed = query_run(copy, sql);
      ASSERT_FALSE(failed) << damage << sql;
      EXPECT_EQ(failed.error().kind, base::ErrorKind::kDamaged);
      EXPECT_THAT(failed.error().message, HasSubstr("rank 1, lane 1"));
    }
    EXPECT_TRUE(query_run(copy, "select sum(duration_ns) from kernel where rank = 1 and lane = 0"));
    EXPECT_TRUE(query_run(copy, "select count(*) from op where rank <> 1"));
  }
}

// Whatever is hit: an answer, or an error of the file.
TEST_F(EventTables, AnswerOrExplainWithAFlippedBitAnywhere) {
  const fs::path copy = *folder_ / "flipped.shardlens";
  int failed = 0, answered = 0;
  const auto size = fs::file_size(packed_);
  for (std::uintmax_t offset = 7; offset < size; offset += size / 60) {
    fs::copy_file(packed_, copy, fs::copy_options::overwrite_existing);
    test::flip(copy, offset, 1 << offset % 8);
    for (const char* sql :
         {"select name, lane_name, step, sum(bytes), count(*) from copy group by 1, 2, 3",
          "select count(*) from kernel k join launch l using (rank, correlation)"}) {
      const auto answer = query_run(copy, sql);
      ++(answer ? answered : failed);
      if (answer) continue;
      EXPECT_NE(answer.error().kind, base::ErrorKind::kUsage) << answer.error().message;
    }
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(answered, 0);
}

TEST_F(EventTables, NameTheChunkThatIsDamagedAndReadTheOthers) {
  const fs::path copy = *folder_ / "damaged.shardlens";
  fs::copy_file(packed_, copy);
  test::change_file(copy,
                    "update chunk set data = zeroblob(50) where rank = 1 and "
                    "kind = 'kernel' and lane = 1");
  const auto failed = query_run(copy, "select sum(duration_ns) from kernel");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, base::ErrorKind::kDamaged);
  EXPECT_THAT(failed.error().message, HasSubstr("rank 1, lane 1"));
  const auto others = query_run(copy, "select count(start_ns) from kernel where rank <> 1");
  ASSERT_TRUE(others) << others.error().message;
  EXPECT_EQ(others->rows[0][0],
            QueryValue(count(model::EventKind::kKernel, [](auto& e) { return e.rank != 1; })));
}

}  // namespace
}  // namespace shardlens::trace::store
