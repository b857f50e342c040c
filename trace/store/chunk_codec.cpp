#include "trace/store/chunk_codec.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>

namespace shardlens::trace {

namespace {

constexpr int kColumns = 6;
constexpr std::size_t kLongestVarint = 10;
constexpr int kZstdLevel = 3;

using Bytes = std::vector<std::byte>;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

void put_varint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::byte>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::byte>(value));
}

// Reads varints; after an overrun everything is 0 and `ok` false.
struct VarintReader {
  const std::byte* position;
  const std::byte* end;
  bool ok = true;

  std::uint64_t next() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (position == end) break;
      const auto byte = std::to_integer<std::uint64_t>(*position++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok = false;
    return 0;
  }
};

// Differences wrap around, so that any value survives.
std::uint64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}
std::int64_t plus(std::int64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + b);
}

std::array<Bytes, kColumns> columns_of(std::span<const Event> events, std::int64_t first_ns) {
  std::array<Bytes, kColumns> columns;
  for (auto& column : columns) column.reserve(events.size() * 2);
  std::int64_t start = first_ns;
  std::int64_t correlation = 0;
  for (const Event& event : events) {
    put_varint(columns[0], zigzag(static_cast<std::int64_t>(minus(event.start_ns, start))));
    put_varint(columns[1], zigzag(event.duration_ns));
    put_varint(columns[2], event.name);
    put_varint(columns[3], event.flags);
    const auto next = static_cast<std::int64_t>(event.correlation);
    put_varint(columns[4], zigzag(static_cast<std::int64_t>(minus(next, correlation))));
    put_varint(columns[5], zigzag(event.value));
    start = event.start_ns;
    correlation = next;
  }
  return columns;
}

Bytes compress(const Bytes& plain) {
  Bytes data(ZSTD_compressBound(plain.size()));
  const std::size_t size =
      ZSTD_compress(data.data(), data.size(), plain.data(), plain.size(), kZstdLevel);
  // Cannot fail: the buffer has the size that zstd asks for.
  data.resize(ZSTD_isError(size) ? 0 : size);
  data.shrink_to_fit();
  return data;
}

tl::unexpected<Error> damaged(const char* why) {
  return fail(ErrorKind::kDamaged, std::string("a block of events is damaged (") + why + ")");
}

Result<Bytes> decompress(std::span<const std::byte> data, std::size_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most) {
    return damaged("its size is wrong");
  }
  Bytes plain(static_cast<std::size_t>(size));
  const std::size_t got = ZSTD_decompress(plain.data(), plain.size(), data.data(), data.size());
  if (ZSTD_isError(got) || got != plain.size()) return damaged("it cannot be decompressed");
  return plain;
}

Result<std::array<VarintReader, kColumns>> split(const Bytes& plain) {
  VarintReader sizes{plain.data(), plain.data() + plain.size()};
  std::array<std::uint64_t, kColumns> size{};
  for (auto& one : size) one = sizes.next();
  if (!sizes.ok) return damaged("its columns are cut");
  std::array<VarintReader, kColumns> columns{};
  const std::byte* position = sizes.position;
  for (int i = 0; i < kColumns; ++i) {
    if (size[i] > static_cast<std::uint64_t>(sizes.end - position)) {
      return damaged("its columns are cut");
    }
    columns[i] = {position, position + size[i]};
    position += size[i];
  }
  return columns;
}

// FNV-1a, 64 bits: every step is a bijection, so a change of one byte is always seen.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      hash_ = (hash_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
    }
  }
  void add(std::int64_t value) { add(std::as_bytes(std::span(&value, 1))); }
  std::int64_t value() const { return static_cast<std::int64_t>(hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace

std::int64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> data) {
  Checksum checksum;
  checksum.add(header.first_ns);
  checksum.add(header.last_ns);
  checksum.add(header.count);
  checksum.add(static_cast<std::int64_t>(header.codec));
  checksum.add(data);
  return checksum.value();
}

Chunk encode_chunk(std::span<const Event> events) {
  Chunk chunk;
  chunk.count = static_cast<std::int64_t>(events.size());
  if (!events.empty()) {
    chunk.first_ns = INT64_MAX;
    chunk.last_ns = INT64_MIN;
    for (const Event& event : events) {
      // An event from a clock that was set back ends before it starts.
      chunk.first_ns = std::min({chunk.first_ns, event.start_ns, event.end_ns()});
      chunk.last_ns = std::max({chunk.last_ns, event.start_ns, event.end_ns()});
    }
  }
  const auto columns = columns_of(events, chunk.first_ns);
  Bytes plain;
  for (const Bytes& column : columns) put_varint(plain, column.size());
  for (const Bytes& column : columns) plain.insert(plain.end(), column.begin(), column.end());
  chunk.data = compress(plain);
  chunk.checksum =
      chunk_checksum({chunk.first_ns, chunk.last_ns, chunk.count, chunk.codec, 0}, chunk.data);
  return chunk;
}

Result<std::vector<Event>> decode_chunk(const ChunkHeader& header,
                                        std::span<const std::byte> data) {
  if (header.codec != kChunkCodec) {
    return fail(ErrorKind::kNewer, "a block of events has format " + std::to_string(header.codec) +
                                       ", which this version does not know: update Shardlens");
  }
  if (header.count < 0 || header.count > static_cast<std::int64_t>(kMostChunkEvents)) {
    return damaged("its count is wrong");
  }
  if (chunk_checksum(header, data) != header.checksum) return damaged("its checksum is wrong");
  const auto count = static_cast<std::size_t>(header.count);
  TRY_ASSIGN(const Bytes plain, decompress(data, (count + 1) * kColumns * kLongestVarint));
  TRY_ASSIGN(auto columns, split(plain));
  std::vector<Event> events(count);
  std::int64_t start = header.first_ns;
  std::int64_t correlation = 0;
  for (Event& event : events) {
    start = plus(start, static_cast<std::uint64_t>(unzigzag(columns[0].next())));
    correlation = plus(correlation, static_cast<std::uint64_t>(unzigzag(columns[4].next())));
    event.start_ns = start;
    event.duration_ns = unzigzag(columns[1].next());
    event.name = static_cast<StringId>(columns[2].next());
    event.flags = static_cast<std::uint32_t>(columns[3].next());
    event.correlation = static_cast<std::uint64_t>(correlation);
    event.value = unzigzag(columns[5].next());
  }
  for (const VarintReader& column : columns) {
    if (!column.ok || column.position != column.end) return damaged("its columns do not fit");
  }
  return events;
}

}  // namespace shardlens::trace
