#include "tests/trace/store/testing/lod_files.h"

namespace shardlens::trace {
namespace {

class LodPyramidTest : public LodFiles {};

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
  for (unsigned seed = 11; seed <= 16; ++seed) {
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
    row.end_ns = row.start_ns + (i == 0 ? 5 : 61) * kMinute;
    commit.batch.collectives.push_back(row);
  }
  kernels.events.push_back({INT64_MIN, INT64_MAX, 0, 0, 0, 0});
  kernels.events.push_back({INT64_MAX, INT64_MAX, 0, 0, 0, 0});
  commit.batch.events.push_back(kernels);
  write(*writer, commit);
  ASSERT_TRUE(writer->finish());
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  // Some ten tiles per event, and the ribbon of five minutes: an hour is the most that counts.
  const auto tiles = file->database().integer("select count(*) from lod");
  ASSERT_TRUE(tiles);
  EXPECT_LT(*tiles, 3 * kEvents * 2 * kLodLevels + (5 * kMinute >> lod_tile_bits(0)) * 2);
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
