#include "trace/store/chunk/chunk_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/trace/store/testing/store_fixture.h"

namespace shardlens::trace::store {
namespace {

Chunk packed(const std::vector<model::Event>& events) {
  ChunkPacker packer;
  return encode_chunk(events, packer);
}

base::Result<std::vector<model::Event>> opened(const ChunkHeader& header,
                                               std::span<const std::byte> data) {
  ChunkOpener opener;
  return decode_chunk(header, data, opener);
}

bool same(const model::Event& a, const model::Event& b) {
  return a.start_ns == b.start_ns && a.duration_ns == b.duration_ns && a.name == b.name &&
         a.flags == b.flags && a.correlation == b.correlation && a.value == b.value;
}

void expect_round_trip(const std::vector<model::Event>& events) {
  const Chunk chunk = packed(events);
  const auto decoded = opened(chunk.header, chunk.data);
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_TRUE(same((*decoded)[i], events[i])) << "event " << i;
  }
}

// GPU kernels as CUPTI reports them: correlation ids rise, few names.
std::vector<model::Event> kernel_events(std::size_t count) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> duration(9.5, 1.5);
  std::vector<model::Event> events;
  std::int64_t now = 1'790'000'000'000'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    const auto length = static_cast<std::int64_t>(duration(random));
    events.push_back({now, length, static_cast<model::StringId>(random() % 60),
                      model::kEventCompute, 1'000'000 + i * 3 + random() % 3, 0});
    now += length + static_cast<std::int64_t>(random() % 2000);
  }
  return events;
}

TEST(ChunkCodec, PacksManyChunksAsItPacksOne) {
  ChunkPacker packer;
  for (const std::size_t count : {20'000u, 1u, 300u, 0u, 20'000u}) {
    const auto events = test::operator_events(1'790'000'000'000'000'000, count, 7);
    EXPECT_EQ(encode_chunk(events, packer).data, packed(events).data) << count << " events";
  }
}

TEST(ChunkCodec, KeepsEveryField) {
  expect_round_trip({});
  expect_round_trip({{5, 6, 7, 8, 9, -10}});
  expect_round_trip(test::operator_events(1'790'000'000'000'000'000, 10'000, 1));
  expect_round_trip(kernel_events(8192));
}

TEST(ChunkCodec, KeepsExtremeValuesInAnyOrder) {
  expect_round_trip({{INT64_MAX - 5, 5, UINT32_MAX, UINT32_MAX, UINT64_MAX, INT64_MIN},
                     {INT64_MIN, 0, 0, 0, 0, INT64_MAX},
                     {0, INT64_MAX, 1, 1, UINT64_MAX / 2, -1},
                     {-7, -1, 0, 0, 1, 0}});
}

TEST(ChunkCodec, KnowsTheTimeThatItsEventsTouch) {
  // The longest event is not the last one.
  const std::vector<model::Event> events{{100, 5000, 1, 0, 0, 0}, {200, 10, 1, 0, 0, 0}};
  const Chunk chunk = packed(events);
  EXPECT_EQ(chunk.header.first_ns, 100);
  EXPECT_EQ(chunk.header.last_ns, 5100);
  EXPECT_EQ(chunk.header.count, 2);
}

TEST(ChunkCodec, TakesAtMostTwelveBytesPerEvent) {
  const auto bytes_per_event = [](const std::vector<model::Event>& events) {
    return static_cast<double>(packed(events).data.size()) / static_cast<double>(events.size());
  };
  const double operators = bytes_per_event(test::operator_events(0, kChunkEvents, 1));
  const double kernels = bytes_per_event(kernel_events(kChunkEvents));
  // What a live run writes: a few hundred operators per commit.
  const double small = bytes_per_event(test::operator_events(0, 500, 1));
  RecordProperty("operator_bytes", std::to_string(operators));
  RecordProperty("kernel_bytes", std::to_string(kernels));
  RecordProperty("small_chunk_bytes", std::to_string(small));
  std::printf("bytes per event: operators %.2f, kernels %.2f, chunks of 500 %.2f\n", operators,
              kernels, small);
  EXPECT_LE(operators, 12);
  EXPECT_LE(kernels, 12);
  EXPECT_LE(small, 12);
}

TEST(ChunkCodec, DetectsEveryChangedByte) {
  const Chunk chunk = packed(test::operator_events(1000, 300, 3));
  for (std::size_t i = 0; i < chunk.data.size(); ++i) {
    auto data = chunk.data;
    data[i] ^= std::byte{0x10};
    const auto decoded = opened(chunk.header, data);
    ASSERT_FALSE(decoded) << "byte " << i;
    EXPECT_EQ(decoded.error().kind, base::ErrorKind::kDamaged);
  }
}

TEST(ChunkCodec, DetectsAChangedHeaderAndCutData) {
  const Chunk chunk = packed(test::operator_events(1000, 300, 3));
  ChunkHeader header = chunk.header;
  ++header.first_ns;
  EXPECT_FALSE(opened(header, chunk.data));
  header = chunk.header;
  --header.count;
  EXPECT_FALSE(opened(header, chunk.data));
  for (std::size_t size = 0; size < chunk.data.size(); size += 13) {
    EXPECT_FALSE(opened(chunk.header, std::span(chunk.data).first(size)));
  }
}

// The checksum is made right again, so that what lies behind it must hold by itself.
TEST(ChunkCodec, SurvivesRandomDamageBehindAValidChecksum) {
  std::mt19937 random(11);
  int refused = 0;
  constexpr int kTries = 3000;
  for (int i = 0; i < kTries; ++i) {
    const Chunk chunk = packed(test::operator_events(1000, 200, 3));
    auto data = chunk.data;
    ChunkHeader header = chunk.header;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      data[random() % data.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) data.resize(random() % (data.size() + 1));
    if (random() % 4 == 0) header.count = static_cast<std::int64_t>(random() % 100'000);
    header.checksum = chunk_checksum(header, data);
    const auto decoded = opened(header, data);
    if (!decoded) {
      ++refused;
    } else {
      EXPECT_EQ(static_cast<std::int64_t>(decoded->size()), header.count);
    }
  }
  EXPECT_GT(refused, kTries / 4);
}

TEST(ChunkCodec, RefusesAbsurdCountsAndUnknownCodecs) {
  const Chunk chunk = packed(test::operator_events(1000, 10, 3));
  ChunkHeader header = chunk.header;
  header.count = INT64_MAX;
  header.checksum = chunk_checksum(header, chunk.data);
  EXPECT_EQ(opened(header, chunk.data).error().kind, base::ErrorKind::kDamaged);
  header.count = -1;
  header.checksum = chunk_checksum(header, chunk.data);
  EXPECT_EQ(opened(header, chunk.data).error().kind, base::ErrorKind::kDamaged);
  header = chunk.header;
  header.codec = 99;
  EXPECT_EQ(opened(header, chunk.data).error().kind, base::ErrorKind::kDamaged);
}

}  // namespace
}  // namespace shardlens::trace::store
