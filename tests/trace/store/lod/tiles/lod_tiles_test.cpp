#include "trace/store/lod/tiles/lod_tiles.h"

#include "tests/trace/store/testing/lod_files.h"
#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {
namespace {

struct LodTilesTest : LodFiles {};

TEST_F(LodTilesTest, RebuiltOnesAreTheSameWhereNoneStayInMemory) {
  const auto path = folder_ / "rank_0.sqlite";
  record(path, LodTraceOptions{});
  auto file = TraceFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  LodTiles tiles(file->database(), 0, 0);
  ASSERT_TRUE(tiles.load());
  const int stream = tiles.number({77, LodKind::kKernel, 0});  // which the file does not have
  const auto tile_with = [](std::int64_t index, std::int64_t length) {
    const std::int64_t start = index << lod_tile_bits(0);
    const LodEvent events[] = {{start + 5, start + 5 + length, 3}};
    return summarize(index, events);
  };
  for (std::int64_t index = 0; index < 20; ++index) {
    tiles.set(stream, tile_with(index, 1000), false);
    tiles.set(stream, tile_with(index, 2000 + index), false);
  }
  tiles.set(stream, blank_lod_tile(0, 7, false), false);
  tiles.forget(stream, 0, 8);
  std::vector<std::int64_t> damaged;
  const auto read = tiles.range(stream, 0, 0, 19, damaged);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(damaged.empty());
  ASSERT_EQ(read->size(), 18u);
  for (const auto& tile : *read) EXPECT_EQ(*tile, tile_with(tile->index, 2000 + tile->index));
}

}  // namespace
}  // namespace shardlens::trace
