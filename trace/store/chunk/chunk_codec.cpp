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

Chunk encode_chunk(std::span<const model::Event> events, ChunkPacker& packer) {
  ChunkHeader header{.count = static_cast<std::int64_t>(events.size())};
  if (!events.empty()) {
    header.first_ns = INT64_MAX;
    header.last_ns = INT64_MIN;
    for (const model::Event& event : events) {
      // An event from a clock that was set back ends before it starts.
      header.first_ns = std::min({header.first_ns, event.start_ns, event.end_ns()});
      header.last_ns = std::max({header.last_ns, event.start_ns, event.end_ns()});
    }
  }
  const auto packed = packer.pack(events, header.first_ns);
  header.checksum = chunk_checksum(header, packed);
  return {header, {packed.begin(), packed.end()}};
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
