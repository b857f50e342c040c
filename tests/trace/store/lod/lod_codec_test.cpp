#include "trace/store/lod/lod_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/store/lod/lod_rows.h"
#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {
namespace {

std::vector<std::byte> copy_of(std::span<const std::byte> data) {
  return {data.begin(), data.end()};
}

// Cells of all densities: none, few, all.
LodTile random_tile(std::mt19937_64& random, bool is_ribbon) {
  LodTile tile =
      blank_lod_tile(static_cast<int>(random() % kLodLevels),
                     static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000, is_ribbon);
  const unsigned every = 1u << random() % 9;
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  const std::int64_t cell_ns = lod_cell_ns(tile.level);
  for (LodCell& cell : tile.cells) {
    if (random() % every != 0) continue;
    cell.busy_ns = below(cell_ns + 1);
    cell.busiest_ns = tile.level == 0 ? cell.busy_ns : below(lod_cell_ns(0) + 1);
    cell.count = below(3) == 0 ? below(std::int64_t{1} << 40) : below(40);
    cell.longest_ns = below(2) == 0 ? cell.busy_ns : below(kLongestRowNs);
    cell.longest_name = static_cast<StringId>(random() >> (random() % 64));
  }
  for (TimeByClass& cell : tile.classes) {
    if (random() % every != 0) continue;
    std::int64_t rest = cell_ns;
    for (std::int64_t& part : cell) rest -= part = below(rest + 1);
    if (below(2) == 0) cell[index_of(TimeClass::kIdle)] += rest;
  }
  return tile;
}

TEST(LodCodec, GivesBackAnyTile) {
  std::mt19937_64 random(7);
  LodCodec codec;
  for (int i = 0; i < 200; ++i) {
    const bool is_ribbon = i % 2 == 1;
    const LodTile tile = random_tile(random, is_ribbon);
    const LodPlace place{3, tile.level, 5, tile.index};
    const auto data = copy_of(codec.encode(tile));
    const auto read = codec.decode(place, is_ribbon, lod_checksum(place, data), data);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(*read, tile);
  }
}

TEST(LodCodec, KnowsWhereATileBelongs) {
  std::mt19937_64 random(8);
  LodCodec codec;
  const LodTile tile = random_tile(random, false);
  const LodPlace place{3, tile.level, 5, tile.index};
  const auto data = copy_of(codec.encode(tile));
  const auto checksum = lod_checksum(place, data);
  for (const LodPlace& other :
       {LodPlace{2, tile.level, 5, tile.index}, LodPlace{3, tile.level, 6, tile.index},
        LodPlace{3, tile.level, 5, tile.index + 1}, LodPlace{3, tile.level + 1, 5, tile.index}}) {
    const auto read = codec.decode(other, false, checksum, data);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
  }
}

// With and without a checksum that fits: what passes for a tile must be a possible one.
TEST(LodCodec, RefusesDamage) {
  std::mt19937_64 random(9);
  LodCodec codec;
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    const bool is_ribbon = i % 2 == 1;
    const LodTile tile = random_tile(random, is_ribbon);
    const LodPlace place{0, tile.level, 1, tile.index};
    auto data = copy_of(codec.encode(tile));
    const auto checksum = lod_checksum(place, data);
    if (i % 3 == 0) {
      data.resize(random() % data.size());
    } else {
      data[random() % data.size()] ^= static_cast<std::byte>(1u << random() % 8);
    }
    const auto told = codec.decode(place, is_ribbon, checksum, data);
    ASSERT_FALSE(told);
    EXPECT_NE(told.error().message.find("checksum"), std::string::npos);
    const auto read = codec.decode(place, is_ribbon, lod_checksum(place, data), data);
    if (!read) {
      ++refused;
      continue;
    }
    ASSERT_EQ(read->cells.size() + read->classes.size(), 256u);
    for (const LodCell& cell : read->cells) ASSERT_LE(cell.busy_ns, lod_cell_ns(tile.level));
  }
  EXPECT_GT(refused, 200);
}

TEST(LodCodec, RefusesAnUnknownForm) {
  LodCodec codec;
  const std::vector<std::byte> data{std::byte{77}, std::byte{0}};
  const auto read = codec.decode({}, false, lod_checksum({}, data), data);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
}

TEST(LodRows, AreOrderedByPlace) {
  std::mt19937_64 random(10);
  LodPlace before;
  std::int64_t last = INT64_MIN;
  for (const int rank : {0, 1, 2047}) {
    for (const int level : {0, 9, kLodMissingLevel}) {
      for (const int stream : {0, 1, kMostLodStreams - 1}) {
        for (const std::int64_t tile : {kFirstLodTile, std::int64_t{-1}, std::int64_t{0},
                                        lod_tile_at(0, 1'790'000'000'000'000'000), kLastLodTile}) {
          const LodPlace place{rank, level, stream, tile};
          ASSERT_TRUE(has_lod_row(place));
          ASSERT_GT(lod_row_id(place), last);
          ASSERT_EQ(lod_place(lod_row_id(place)), place);
          last = lod_row_id(place);
        }
      }
    }
  }
  EXPECT_FALSE(has_lod_row({-1, 0, 0, 0}));
  EXPECT_FALSE(has_lod_row({2048, 0, 0, 0}));
}

TEST(LodRows, GiveBackTheirLists) {
  const std::vector<LodEvent> events{{5, 10'000'000'000, 3}, {-7'000'000'000, -1, 0x90000002}};
  EXPECT_EQ(*decode_long_events(encode_long_events(events)), events);
  const Intervals stretches{{0, 10}, {1'000'000'000'000, 1'000'000'000'000}};
  EXPECT_EQ(*decode_stretches(encode_stretches(stretches)), stretches);
  const std::vector<LodSpoiled> spoiled{{1, -5, 9}, {4095, kFirstLodTile, kLastLodTile}};
  EXPECT_EQ(*decode_spoiled(encode_spoiled(spoiled)), spoiled);
  auto cut = encode_long_events(events);
  cut.pop_back();
  EXPECT_FALSE(decode_long_events(cut));
  EXPECT_FALSE(decode_spoiled(encode_spoiled(std::vector<LodSpoiled>{{1, 9, 5}})));
  EXPECT_FALSE(decode_stretches(encode_stretches(Intervals{{9, 5}})));
}

}  // namespace
}  // namespace shardlens::trace
