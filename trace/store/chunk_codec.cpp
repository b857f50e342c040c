#include "trace/store/chunk_codec.h"

#include <algorithm>
#include <array>

#include "trace/store/checksum.h"
#include "trace/store/chunk_opener.h"
#include "trace/store/chunk_packer.h"

namespace shardlens::trace {

namespace {

std::int64_t plus(std::int64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + b);
}

// FNV-1a, 64 bits, of codec 1.
class Fnv {
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
  if (header.codec == 1) {
    Fnv checksum;
    checksum.add(header.first_ns);
    checksum.add(header.last_ns);
    checksum.add(header.count);
    checksum.add(static_cast<std::int64_t>(header.codec));
    checksum.add(data);
    return checksum.value();
  }
  // The data's own comes first: a third of decoding went into FNV-1a, which takes byte by byte.
  const std::array<std::int64_t, 5> words = {static_cast<std::int64_t>(checksum_of(data)),
                                             header.first_ns, header.last_ns, header.count,
                                             header.codec};
  return static_cast<std::int64_t>(checksum_of(std::as_bytes(std::span(words))));
}

Chunk encode_chunk(std::span<const Event> events, int codec) {
  ChunkPacker packer;
  return encode_chunk(events, packer, codec);
}

Chunk encode_chunk(std::span<const Event> events, ChunkPacker& packer, int codec) {
  Chunk chunk;
  chunk.codec = codec;
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
  const auto packed = packer.pack(events, chunk.first_ns, codec);
  chunk.data.assign(packed.begin(), packed.end());
  chunk.checksum =
      chunk_checksum({chunk.first_ns, chunk.last_ns, chunk.count, chunk.codec, 0}, chunk.data);
  return chunk;
}

Result<std::vector<Event>> decode_chunk(const ChunkHeader& header,
                                        std::span<const std::byte> data) {
  ChunkOpener opener;
  return decode_chunk(header, data, opener);
}

Result<std::vector<Event>> decode_chunk(const ChunkHeader& header, std::span<const std::byte> data,
                                        ChunkOpener& opener) {
  TRY_ASSIGN(auto columns, opener.open(header, data, ChunkOpener::Part::kAll));
  auto& [starts, durations, names, flags, correlations, values] = columns.columns;
  std::vector<Event> events(static_cast<std::size_t>(header.count));
  std::int64_t start = header.first_ns;
  std::int64_t correlation = 0;
  for (Event& event : events) {
    start = plus(start, static_cast<std::uint64_t>(unzigzag(starts.next_mixed())));
    correlation = plus(correlation, static_cast<std::uint64_t>(unzigzag(correlations.next())));
    event.start_ns = start;
    event.duration_ns = unzigzag(durations.next_mixed());
    event.name = static_cast<StringId>(names.next());
    event.flags = static_cast<std::uint32_t>(flags.next());
    event.correlation = static_cast<std::uint64_t>(correlation);
    event.value = unzigzag(values.next());
  }
  for (int i = 0; i < kChunkColumns; ++i) {
    if (!columns.ends(static_cast<ChunkColumn>(i))) {
      return damaged_chunk("its columns do not fit");
    }
  }
  return events;
}

}  // namespace shardlens::trace
