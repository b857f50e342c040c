#include "trace/store/chunk/chunk_codec.h"

#include <algorithm>
#include <array>

#include "trace/base/checksum.h"
#include "trace/store/chunk/chunk_opener.h"
#include "trace/store/chunk/chunk_packer.h"

namespace shardlens::trace::store {

namespace {

std::int64_t plus(std::int64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + b);
}

}  // namespace

std::int64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> data) {
  const std::array<std::int64_t, 5> words = {static_cast<std::int64_t>(base::checksum_of(data)),
                                             header.first_ns, header.last_ns, header.count,
                                             header.codec};
  return static_cast<std::int64_t>(base::checksum_of(std::as_bytes(std::span(words))));
}

Chunk encode_chunk(std::span<const model::Event> events) {
  ChunkPacker packer;
  return encode_chunk(events, packer);
}

Chunk encode_chunk(std::span<const model::Event> events, ChunkPacker& packer) {
  Chunk chunk;
  chunk.count = static_cast<std::int64_t>(events.size());
  if (!events.empty()) {
    chunk.first_ns = INT64_MAX;
    chunk.last_ns = INT64_MIN;
    for (const model::Event& event : events) {
      // An event from a clock that was set back ends before it starts.
      chunk.first_ns = std::min({chunk.first_ns, event.start_ns, event.end_ns()});
      chunk.last_ns = std::max({chunk.last_ns, event.start_ns, event.end_ns()});
    }
  }
  const auto packed = packer.pack(events, chunk.first_ns);
  chunk.data.assign(packed.begin(), packed.end());
  chunk.checksum =
      chunk_checksum({chunk.first_ns, chunk.last_ns, chunk.count, chunk.codec, 0}, chunk.data);
  return chunk;
}

base::Result<std::vector<model::Event>> decode_chunk(const ChunkHeader& header,
                                                     std::span<const std::byte> data) {
  ChunkOpener opener;
  return decode_chunk(header, data, opener);
}

base::Result<std::vector<model::Event>> decode_chunk(const ChunkHeader& header,
                                                     std::span<const std::byte> data,
                                                     ChunkOpener& opener) {
  TRY_ASSIGN(auto columns, opener.open(header, data, ChunkOpener::Part::kAll));
  auto& [starts, durations, names, flags, correlations, values] = columns.columns;
  std::vector<model::Event> events(static_cast<std::size_t>(header.count));
  std::int64_t start = header.first_ns;
  std::int64_t correlation = 0;
  for (model::Event& event : events) {
    start = plus(start, static_cast<std::uint64_t>(unzigzag(starts.next_mixed())));
    correlation = plus(correlation, static_cast<std::uint64_t>(unzigzag(correlations.next())));
    event.start_ns = start;
    event.duration_ns = unzigzag(durations.next_mixed());
    event.name = static_cast<model::StringId>(names.next());
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

}  // namespace shardlens::trace::store
