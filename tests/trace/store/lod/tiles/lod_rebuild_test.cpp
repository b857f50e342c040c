#include "trace/store/lod/tiles/lod_rebuild.h"

#include <optional>

#include "tests/trace/store/testing/lod_files.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::trace {
namespace {

class LodRebuildTest : public LodFiles {};

TEST_F(LodRebuildTest, IsRebuiltWhereAWriterWasKilled) {
  for (unsigned seed = 22; seed <= 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LodTraceOptions options;
    options.seed = seed;
    options.commits = 5 + static_cast<int>(seed % 3) * 5;
    options.late = seed % 2 == 0;
    options.long_ = seed % 4 < 2;
    const auto run = new_run("killed " + std::to_string(seed));
    const LodOracle oracle = record(rank_file(run, 0), options, false);
    auto file = TraceFile::open(rank_file(run, 0));
    ASSERT_TRUE(file);
    auto reader = open(*file);
    EXPECT_LT(reader->fraction(), 1);
    expect_right(*reader, oracle, false);
    EXPECT_GT(rebuild(*reader), 0);
    expect_right(*reader, oracle);
  }
}

TEST_F(LodRebuildTest, FollowsALiveRecording) {
  for (const unsigned seed : {31u, 32u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LodTraceOptions options;
    options.seed = seed;
    options.late = seed % 2 == 0;
    options.long_ = options.late;
    const auto run = new_run("live " + std::to_string(seed));
    auto writer = RowWriter::create_file(rank_file(run, 0), 0);
    ASSERT_TRUE(writer);
    LodOracle oracle;
    std::optional<TraceFile> file;
    std::unique_ptr<LodReader> reader;
    int commits = 0;
    for (const LodCommit& commit : test::random_recording(options)) {
      write(*writer, commit);
      oracle.add(commit.batch);
      if (!file) {
        auto opened = TraceFile::open(rank_file(run, 0));
        ASSERT_TRUE(opened);
        file = std::move(*opened);
        reader = open(*file);
      } else if (++commits % 2 == 0) {
        ASSERT_TRUE(reader->refresh());
        // Not always is there time for all of it before more comes.
        for (int i = 0; i < commits; ++i) ASSERT_TRUE(reader->rebuild_some());
        if (commits % 4 == 0) expect_right(*reader, oracle, false);
        if (commits % 6 == 0) {
          rebuild(*reader);
          expect_right(*reader, oracle);
        }
      }
    }
    ASSERT_TRUE(writer->finish());
    ASSERT_TRUE(reader->refresh());
    rebuild(*reader);
    expect_right(*reader, oracle);
  }
}

// Some seconds of backward, told at their end, take from the optimizer's what a reader has rebuilt.
TEST_F(LodRebuildTest, TakesALongPhaseIntoARibbonThatIsThere) {
  constexpr std::int64_t kBegin = 1'790'000'000'000'000'000, kSecond = 1'000'000'000;
  const auto run = new_run("phase");
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  LodOracle oracle;
  LodCommit commit;
  commit.now_ns = kBegin + 4 * kSecond;
  commit.batch.spans = {{0, 0, 0, Phase::kOptimizer, 0, 0, kBegin, kBegin + 4 * kSecond}};
  commit.batch.events = {{0, 0, EventKind::kKernel, {{kBegin, 4 * kSecond, 0, 0, 0, 0}}}};
  write(*writer, commit);
  oracle.add(commit.batch);
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  auto reader = open(*file);
  rebuild(*reader);
  expect_right(*reader, oracle);
  commit.now_ns += 1;
  commit.batch = {};
  commit.batch.spans = {
      {0, 0, 0, Phase::kBackward, 0, 0, kBegin - 3 * kSecond / 2, kBegin + 3 * kSecond}};
  write(*writer, commit);
  oracle.add(commit.batch);
  ASSERT_TRUE(reader->refresh());
  rebuild(*reader);
  expect_right(*reader, oracle);
}

TEST_F(LodRebuildTest, IsTheSameAfterPacking) {
  const auto run = new_run("packed", 2);
  LodTraceOptions options;
  options.seed = 41;
  options.long_ = true;
  const LodOracle first = record(rank_file(run, 0), options);
  options.seed = 42;
  options.rank = 1;
  options.late = true;
  const LodOracle second = record(rank_file(run, 1), options, false);
  const auto packed = folder_ / "packed.shardlens";
  ASSERT_TRUE(pack_run(run, packed));
  auto file = TraceFile::open(packed);
  ASSERT_TRUE(file);
  auto whole = open(*file, 0);
  EXPECT_EQ(whole->fraction(), 1);
  expect_right(*whole, first);
  auto cut = open(*file, 1);
  expect_right(*cut, second, false);
  rebuild(*cut);
  expect_right(*cut, second);
}

// As a recorder leaves it that was killed before it closed any tile.
TEST_F(LodRebuildTest, IsRebuiltWhereTheFileHasNothingOfIt) {
  const auto run = new_run("nothing");
  LodTraceOptions options;
  options.seed = 53;
  options.commits = 12;
  options.long_ = options.absurd = options.late = true;
  const LodOracle oracle = record(rank_file(run, 0), options);
  {
    auto database = open_for_writing(rank_file(run, 0));
    ASSERT_TRUE(database);
    ASSERT_TRUE(
        database->execute("delete from lod; delete from lod_stream; update batch set lod_ns=0"));
  }
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file) << file.error().message;
  auto reader = open(*file);
  const auto before = reader->read({0, LodKind::kKernel, 0}, 0, 0, INT64_MAX);
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->is_complete);
  rebuild(*reader);
  expect_right(*reader, oracle);
  EXPECT_EQ(reader->extent().first_ns, oracle.first_ns());
  EXPECT_EQ(reader->extent().last_ns, oracle.last_ns());
}

// Every fifth tile, of all levels; then a list, without which nothing of the file is believed.
TEST_F(LodRebuildTest, IsRebuiltWhereTheFileIsDamaged) {
  const auto run = new_run("damaged");
  LodTraceOptions options;
  options.seed = 61;
  options.long_ = true;
  const LodOracle oracle = record(rank_file(run, 0), options);
  for (const std::string& damage : std::vector<std::string>{
           "update lod set data = x'0102' where row_id % 5 = 0 and level < 10",
           "update lod set checksum = checksum + 1 where level = " + std::to_string(kLodLevels),
           "update lod_stream set kind = 'nonsense' where stream = 3"}) {
    SCOPED_TRACE(damage);
    {
      auto database = open_for_writing(rank_file(run, 0));
      ASSERT_TRUE(database);
      ASSERT_TRUE(database->execute(damage));
      ASSERT_GT(sqlite3_changes(database->get()), 0);
    }
    auto file = TraceFile::open(rank_file(run, 0));
    ASSERT_TRUE(file);
    auto reader = open(*file);
    // What is damaged is found by reading it.
    for (const LodStream& stream : oracle.streams()) {
      for (int level = 0; level < kLodLevels; ++level) {
        ASSERT_TRUE(reader->read(stream, level, INT64_MIN, INT64_MAX));
      }
    }
    EXPECT_GT(rebuild(*reader), 0);
    expect_right(*reader, oracle);
  }
}

TEST_F(LodRebuildTest, StaysTrueWhenATransactionIsLost) {
  const auto run = new_run("lost");
  LodTraceOptions options;
  options.seed = 71;
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  LodOracle oracle;
  int index = 0;
  for (const LodCommit& commit : test::random_recording(options)) {
    if (++index == 15) {
      ASSERT_TRUE(writer->begin());
      ASSERT_TRUE(writer->write(commit.batch));
      writer->roll_back();
      continue;
    }
    write(*writer, commit);
    oracle.add(commit.batch);
  }
  ASSERT_TRUE(writer->finish());
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  auto reader = open(*file);
  expect_right(*reader, oracle, false);
  rebuild(*reader);
  expect_right(*reader, oracle);
}

}  // namespace
}  // namespace shardlens::trace
