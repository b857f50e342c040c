#include "trace/store/write/trace_writer.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {
namespace {

using namespace std::chrono_literals;
using test::Folder;

TEST(TraceWriter, ReadsBackEveryRowOfEveryTable) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "all tables", 2, 5);
  auto reader = RunReader::open(run);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto batches = (*reader)->poll();
  ASSERT_TRUE(batches) << batches.error().message;
  ASSERT_EQ(batches->size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<model::Batch> written;
    for (std::int64_t step = 0; step < 5; ++step) written.push_back(test::step_batch(rank, step));
    EXPECT_EQ(test::text_of((*batches)[static_cast<std::size_t>(rank)]),
              test::text_of(test::joined(written, rank)));
  }
}

TEST(TraceWriter, LeavesOneFileThatNeedsNothingBesideIt) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "clean", 1, 2);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"rank_0.sqlite", "run.sqlite"}));
}

TEST(TraceWriter, RefusesAFileThatExists) {
  const Folder folder;
  test::write_text(folder / "rank_0.sqlite", "something");
  const auto writer = TraceWriter::create(folder / "rank_0.sqlite", 0);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, base::ErrorKind::kUsage);
}

TEST(TraceWriter, SaysSoWhenTheFolderIsMissing) {
  const Folder folder;
  const auto writer = TraceWriter::create(folder / "absent" / "rank_0.sqlite", 0);
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("absent"), std::string::npos);
}

TEST(TraceWriter, CountsBulkEventsThatAFullQueueCannotTakeAndKeepsTheRows) {
  const Folder folder;
  auto writer = TraceWriter::create(folder / "rank_0.sqlite", 0, {10s, INT64_MAX, 2});
  ASSERT_TRUE(writer);
  // The thread wakes once the queue is half full; far more than it takes at a time is submitted.
  constexpr std::int64_t kSteps = 2000;
  for (std::int64_t step = 0; step < kSteps; ++step) (*writer)->submit(test::step_batch(0, step));
  ASSERT_TRUE((*writer)->close());
  EXPECT_GT((*writer)->lost(), 0);
  auto database = Database::open(folder / "rank_0.sqlite", SQLITE_OPEN_READONLY, "rank_0");
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("select count(*) from step"), kSteps);
  EXPECT_EQ(*database->integer("select count(*) from collective"), 3 * kSteps);
  const auto events = *database->integer("select sum(count) from chunk");
  EXPECT_EQ(events + (*writer)->lost(), 40 * kSteps);
  EXPECT_EQ(*database->integer("select sum(count) from lost where reason='writer queue full'"),
            (*writer)->lost());
}

TEST(TraceWriter, DropsOnlyBulkBeyondTheSizeLimit) {
  const Folder folder;
  auto writer = TraceWriter::create(folder / "rank_0.sqlite", 0, {1ms, 200'000, 1});
  ASSERT_TRUE(writer);
  for (std::int64_t step = 0; step < 120; ++step) {
    model::Batch batch = test::step_batch(0, step);
    batch.events.front().events = test::operator_events(step * 1'000'000'000, 2000, 1);
    (*writer)->submit(std::move(batch));
    std::this_thread::sleep_for(4ms);  // a rank at work
  }
  ASSERT_TRUE((*writer)->close());
  auto database = Database::open(folder / "rank_0.sqlite", SQLITE_OPEN_READONLY, "rank_0");
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("select count(*) from step"), 120);
  EXPECT_LT(*database->integer("select sum(count) from chunk"), 100 * 2000);
  EXPECT_GT(*database->integer("select sum(count) from lost where reason='size limit'"), 10 * 2000);
  EXPECT_LT(std::filesystem::file_size(folder / "rank_0.sqlite"), 500'000u);
  EXPECT_EQ((*writer)->failure(), "");
}

// A live run commits a few hundred operators at a time, which compress and fill pages worse.
TEST(TraceWriter, NeedsAtMostTwelveBytesPerEventOnDisk) {
  const Folder folder;
  auto writer = TraceWriter::create(folder / "rank_0.sqlite", 0, {1ms, INT64_MAX, 64});
  ASSERT_TRUE(writer);
  constexpr std::size_t kCommits = 100, kEvents = 600;
  for (std::size_t i = 0; i < kCommits; ++i) {
    model::Batch batch;
    batch.events = {{0, 0, model::EventKind::kOperator,
                     test::operator_events(static_cast<std::int64_t>(i) * 100'000'000, kEvents,
                                           static_cast<unsigned>(i))}};
    (*writer)->submit(std::move(batch));
    std::this_thread::sleep_for(3ms);  // a rank at work
  }
  ASSERT_TRUE((*writer)->close());
  ASSERT_EQ((*writer)->lost(), 0);
  const auto bytes = std::filesystem::file_size(folder / "rank_0.sqlite");
  std::printf("bytes per event on disk: %.2f\n",
              static_cast<double>(bytes) / static_cast<double>(kCommits * kEvents));
  EXPECT_LE(bytes, 12 * kCommits * kEvents);
}

}  // namespace
}  // namespace shardlens::trace::store
