#include "trace/store/lod/lod_rows.h"

#include "trace/base/varint.h"
#include "trace/store/lod/lod_stretches.h"

namespace shardlens::trace {

namespace {

// A row id, from its highest bit: 0, the rank, the level, the stream, the tile.
constexpr int kTileShift = 64 - lod_tile_bits(0), kStreamShift = 12, kLevelShift = 4;
constexpr int kRankBits = 63 - kTileShift - kStreamShift - kLevelShift;
static_assert(kRankBits >= 11);
static_assert(kMostLodStreams == 1 << kStreamShift && kLodMissingLevel < 1 << kLevelShift);

void put_signed(std::vector<std::byte>& out, std::int64_t value) { put_varint(out, zigzag(value)); }
std::int64_t next_signed(VarintReader& in) { return unzigzag(in.next()); }

// Rows until the bytes end: no more than there are bytes.
template <typename Row, typename Read>
Result<std::vector<Row>> read_list(std::span<const std::byte> data, Read&& read) {
  VarintReader in{data.data(), data.data() + data.size()};
  std::vector<Row> rows;
  while (in.ok && in.position != in.end) {
    rows.push_back(read(in));
    if (!in.ok) break;
  }
  if (!in.ok) return fail(ErrorKind::kDamaged, "a list of the pyramid is damaged (it is cut)");
  return rows;
}

}  // namespace

bool has_lod_row(const LodPlace& place) {
  return place.rank >= 0 && place.rank < 1 << kRankBits && place.stream >= 0 &&
         place.stream < kMostLodStreams && place.tile >= kFirstLodTile &&
         place.tile <= kLastLodTile;
}

std::int64_t lod_row_id(const LodPlace& place) {
  std::int64_t id = place.rank;
  id = id << kLevelShift | place.level;
  id = id << kStreamShift | place.stream;
  return id << kTileShift | (place.tile - kFirstLodTile);
}

LodPlace lod_place(std::int64_t row_id) {
  const auto take = [&](int bits) {
    const std::int64_t part = row_id & ((std::int64_t{1} << bits) - 1);
    row_id >>= bits;
    return part;
  };
  LodPlace place;
  place.tile = take(kTileShift) + kFirstLodTile;
  place.stream = static_cast<int>(take(kStreamShift));
  place.level = static_cast<int>(take(kLevelShift));
  place.rank = static_cast<int>(row_id);
  return place;
}

std::int64_t bind_lod_row(Statement& insert, const LodPlace& place,
                          std::span<const std::byte> data) {
  const std::int64_t checksum = lod_checksum(place, data);
  insert.bind(1, lod_row_id(place));
  insert.bind(2, std::int64_t{place.rank});
  insert.bind(3, std::int64_t{place.level});
  insert.bind(4, std::int64_t{place.stream});
  insert.bind(5, place.tile);
  insert.bind(6, checksum);
  insert.bind_blob(7, data);
  return checksum;
}

std::vector<std::byte> encode_long_events(std::span<const LodEvent> events) {
  std::vector<std::byte> data;
  for (const LodEvent& event : events) {
    put_signed(data, event.start_ns);
    put_signed(data, event.duration_ns());
    put_varint(data, event.name);
  }
  return data;
}

Result<std::vector<LodEvent>> decode_long_events(std::span<const std::byte> data) {
  return read_list<LodEvent>(data, [](VarintReader& in) {
    const std::int64_t start = next_signed(in);
    const std::int64_t duration = next_signed(in);
    return lod_event(start, duration, static_cast<StringId>(in.next()));
  });
}

std::vector<std::byte> encode_stretches(std::span<const Interval> stretches) {
  std::vector<std::byte> data;
  for (const Interval& stretch : stretches) {
    put_signed(data, stretch.start_ns);
    put_signed(data, stretch.end_ns);
  }
  return data;
}

Result<Intervals> decode_stretches(std::span<const std::byte> data) {
  TRY_ASSIGN(const auto rows, read_list<Interval>(data, [](VarintReader& in) {
               const std::int64_t start = next_signed(in);
               return Interval{start, next_signed(in)};
             }));
  LodStretches stretches;
  for (const Interval& row : rows) {
    if (row.start_ns < 0 || row.end_ns < row.start_ns) {
      return fail(ErrorKind::kDamaged, "a list of the pyramid is damaged (its times are wrong)");
    }
    stretches.add(row.start_ns, row.end_ns);
  }
  return stretches.all();
}

std::vector<std::byte> encode_spoiled(std::span<const LodSpoiled> spoiled) {
  std::vector<std::byte> data;
  for (const LodSpoiled& each : spoiled) {
    put_varint(data, static_cast<std::uint64_t>(each.stream));
    put_signed(data, each.first);
    put_signed(data, each.last);
  }
  return data;
}

Result<std::vector<LodSpoiled>> decode_spoiled(std::span<const std::byte> data) {
  TRY_ASSIGN(auto rows, read_list<LodSpoiled>(data, [](VarintReader& in) {
               LodSpoiled row;
               row.stream = static_cast<int>(in.next() % kMostLodStreams);
               row.first = next_signed(in);
               row.last = next_signed(in);
               return row;
             }));
  for (const LodSpoiled& row : rows) {
    if (row.first > row.last || row.first < kFirstLodTile || row.last > kLastLodTile) {
      return fail(ErrorKind::kDamaged, "a list of the pyramid is damaged (its tiles are wrong)");
    }
  }
  return rows;
}

}  // namespace shardlens::trace
