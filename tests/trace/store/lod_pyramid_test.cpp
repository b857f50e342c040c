#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "tests/trace/store/lod_oracle.h"
#include "tests/trace/store/lod_traces.h"
#include "tests/trace/store/store_fixture.h"
#include "trace/store/lod_reader.h"
#include "trace/store/pack.h"
#include "trace/store/row_writer.h"
#include "trace/store/run_folder.h"
#include "trace/store/trace_file.h"

namespace shardlens::trace {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using test::LodCommit;
using test::LodOracle;
using test::LodTraceOptions;

std::string text_of(const LodTile& tile) {
  std::string text = "level " + std::to_string(tile.level) + " tile " + std::to_string(tile.index);
  for (std::size_t i = 0; i < tile.cells.size(); ++i) {
    const LodCell& c = tile.cells[i];
    if (c == LodCell()) continue;
    text += "\n  " + std::to_string(i) + ": busy " + std::to_string(c.busy_ns) + " busiest " +
            std::to_string(c.busiest_ns) + " count " + std::to_string(c.count) + " longest " +
            std::to_string(c.longest_ns) + " #" + std::to_string(c.longest_name);
  }
  for (std::size_t i = 0; i < tile.classes.size(); ++i) {
    if (tile.classes[i] == LodClassCell()) continue;
    text += "\n  " + std::to_string(i) + ":";
    for (const auto ns : tile.classes[i]) text += " " + std::to_string(ns);
  }
  return text;
}

std::string text_of(const LodStream& stream) {
  return std::string(to_string(stream.kind)) + " " + std::to_string(stream.lane) + " depth " +
         std::to_string(stream.depth);
}

class LodPyramidTest : public testing::Test {
 protected:
  // The run's only rank, or one of two.
  fs::path new_run(const std::string& name, int ranks = 1) {
    RunInfo info = test::run_info(name, ranks);
    return *create_run(folder_.path(), info, false);
  }
  static void write(RowWriter& writer, const LodCommit& commit) {
    ASSERT_TRUE(writer.begin());
    const auto written = writer.write(commit.batch);
    ASSERT_TRUE(written) << written.error().message;
    const auto committed = writer.commit(commit.now_ns);
    ASSERT_TRUE(committed) << committed.error().message;
  }
  // Records all commits and ends in order, unless told otherwise.
  static LodOracle record(const fs::path& file, const LodTraceOptions& options, bool ends = true) {
    LodOracle oracle;
    auto writer = RowWriter::create_file(file, options.rank);
    EXPECT_TRUE(writer);
    for (const LodCommit& commit : test::random_recording(options)) {
      write(*writer, commit);
      oracle.add(commit.batch);
    }
    if (ends) {
      const auto finished = writer->finish();
      EXPECT_TRUE(finished) << finished.error().message;
    }
    return oracle;
  }
  static std::unique_ptr<LodReader> open(TraceFile& file, int rank = 0) {
    auto reader = LodReader::open(file.database(), rank);
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }
  static int rebuild(LodReader& reader) {
    int calls = 0;
    double before = -1;
    while (true) {
      const auto more = reader.rebuild_some();
      EXPECT_TRUE(more) << more.error().message;
      if (!more || !*more) break;
      EXPECT_LT(reader.fraction(), 1);
      before = reader.fraction();
      if (++calls > 100'000) ADD_FAILURE() << "does not end, at " << before;
      if (calls > 100'000) break;
    }
    EXPECT_EQ(reader.fraction(), 1);
    return calls;
  }
  // Every level of every stream; where the reader says that it is complete it must be right.
  static void expect_right(LodReader& reader, const LodOracle& oracle, bool complete = true) {
    const auto streams = oracle.streams();
    if (complete) {
      const std::set<LodStream> known(reader.streams().begin(), reader.streams().end());
      ASSERT_EQ(known.size(), streams.size());
      EXPECT_EQ(known, streams);
    }
    for (const LodStream& stream : streams) {
      for (int level = 0; level < kLodLevels; ++level) {
        const auto read = reader.read(stream, level, INT64_MIN, INT64_MAX);
        ASSERT_TRUE(read) << read.error().message;
        if (complete) {
          ASSERT_TRUE(read->is_complete) << text_of(stream) << " level " << level;
        }
        if (!read->is_complete) continue;
        const auto expected = oracle.tiles(stream, level);
        std::set<std::int64_t> found, wanted;
        for (const auto& tile : read->tiles) found.insert(tile->index);
        for (const LodTile& tile : expected) wanted.insert(tile.index);
        ASSERT_EQ(found, wanted) << text_of(stream) << " level " << level;
        ASSERT_EQ(read->tiles.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(*read->tiles[i], expected[i])
              << text_of(stream) << ": " << text_of(*read->tiles[i]) << "\nis not "
              << text_of(expected[i]);
        }
      }
    }
  }

  const Folder folder_;
};

TEST_F(LodPyramidTest, IsWholeAtOnceAfterAnOrderlyRecording) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LodTraceOptions options;
    options.seed = seed;
    const auto run = new_run("orderly " + std::to_string(seed));
    const LodOracle oracle = record(rank_file(run, 0), options);
    auto file = TraceFile::open(rank_file(run, 0));
    ASSERT_TRUE(file);
    auto reader = open(*file);
    EXPECT_EQ(reader->fraction(), 1);
    EXPECT_EQ(reader->extent().first_ns, oracle.first_ns());
    EXPECT_EQ(reader->extent().last_ns, oracle.last_ns());
    expect_right(*reader, oracle);
    EXPECT_EQ(rebuild(*reader), 0);
  }
}

TEST_F(LodPyramidTest, IsRightWhateverTheClocksTell) {
  for (unsigned seed = 11; seed <= 18; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LodTraceOptions options;
    options.seed = seed;
    options.late = seed % 2 == 0;
    options.long_ = seed % 4 < 2;
    options.absurd = seed % 8 < 4;
    const auto run = new_run("odd " + std::to_string(seed));
    const LodOracle oracle = record(rank_file(run, 0), options);
    auto file = TraceFile::open(rank_file(run, 0));
    ASSERT_TRUE(file);
    auto reader = open(*file);
    rebuild(*reader);
    expect_right(*reader, oracle);
  }
}

TEST_F(LodPyramidTest, IsRebuiltWhereAWriterWasKilled) {
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

TEST_F(LodPyramidTest, FollowsALiveRecording) {
  for (unsigned seed = 31; seed <= 32; ++seed) {
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

TEST_F(LodPyramidTest, IsTheSameAfterPacking) {
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

TEST_F(LodPyramidTest, IsRebuiltForFilesOfOlderFormats) {
  for (const int version : {3, 2}) {
    SCOPED_TRACE("format " + std::to_string(version));
    const auto run = new_run("older " + std::to_string(version));
    LodTraceOptions options;
    options.seed = 50 + static_cast<unsigned>(version);
    options.commits = 12;
    options.long_ = options.absurd = options.late = true;
    const LodOracle oracle = record(rank_file(run, 0), options);
    {
      auto database = open_for_writing(rank_file(run, 0));
      ASSERT_TRUE(database);
      ASSERT_TRUE(
          database->execute("drop table lod; drop table lod_stream; alter table batch drop "
                            "column lod_ns; pragma user_version=" +
                            std::to_string(version)));
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
}

// Every fifth tile, of all levels; then a list, without which nothing of the file is believed.
TEST_F(LodPyramidTest, IsRebuiltWhereTheFileIsDamaged) {
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

TEST_F(LodPyramidTest, StaysTrueWhenATransactionIsLost) {
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

// Days of work, and events all over the calendar: a damaged trace must not fill the disk.
TEST_F(LodPyramidTest, CostsLittleForAbsurdTimes) {
  const auto run = new_run("absurd");
  constexpr std::int64_t kMinute = 60'000'000'000, kDay = 24 * 60 * kMinute;
  constexpr int kEvents = 100;
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  LodCommit commit;
  EventRun kernels{0, 0, EventKind::kKernel, {}};
  for (std::int64_t i = 0; i < kEvents; ++i) {
    kernels.events.push_back({i * 2 * kDay, kDay, 0, 0, 0, 0});
    commit.batch.spans.push_back({0, 0, 1, Phase::kOptimizer, 0, 0, i * kDay, INT64_MAX});
    Collective row;
    row.start_ns = i * kDay;
    row.end_ns = row.start_ns + 10 * kMinute;
    commit.batch.collectives.push_back(row);
  }
  kernels.events.push_back({INT64_MIN, INT64_MAX, 0, 0, 0, 0});
  kernels.events.push_back({INT64_MAX, INT64_MAX, 0, 0, 0, 0});
  commit.batch.events.push_back(kernels);
  write(*writer, commit);
  ASSERT_TRUE(writer->finish());
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  // Some ten tiles per event, and the ribbon of an hour.
  const auto tiles = file->database().integer("select count(*) from lod");
  ASSERT_TRUE(tiles);
  EXPECT_LT(*tiles, 3 * kEvents * 2 * kLodLevels + (60 * kMinute >> lod_tile_bits(0)) * 2);
  auto reader = open(*file);
  const LodStream kernel{0, LodKind::kKernel, 0};
  const auto top = reader->read(kernel, kLodLevels - 1, INT64_MIN, INT64_MAX);
  ASSERT_TRUE(top);
  std::int64_t count = 0;
  for (const auto& tile : top->tiles) {
    for (const LodCell& cell : tile->cells) count += cell.count;
  }
  EXPECT_EQ(count, kEvents + 2);
  // More than a screen can show is refused, not allocated.
  const auto all = reader->read(kernel, 0, 0, kEvents * 2 * kDay);
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().message.find("coarser level"), std::string::npos);
}

}  // namespace
}  // namespace shardlens::trace
