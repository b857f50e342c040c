#include "trace/store/chunk/chunk_codec.h"

#include <zstd.h>

#include <algorithm>
#include <string>

#include "trace/base/checksum.h"

namespace shardlens::trace::store {

namespace {

constexpr int kChunkZstdLevel = 3;

// Differences wrap around, so that any value survives.
std::uint64_t zigzag_difference(std::uint64_t a, std::uint64_t b) {
  return zigzag(static_cast<std::int64_t>(a - b));
}

void put_column(VarintWriter& out, ChunkColumn column, std::span<const model::Event> events,
                std::int64_t first_ns) {
  const auto put = [&](auto&& number) {
    VarintWriter to = out;  // a reference would be stored after each
    for (const model::Event& event : events) to.put_mixed(number(event));
    out = to;
  };
  std::uint64_t last = 0;
  const auto step = [&](std::uint64_t next) {
    return zigzag_difference(next, std::exchange(last, next));
  };
  switch (column) {
    case ChunkColumn::kStart:
      last = static_cast<std::uint64_t>(first_ns);
      return put(
          [&](const model::Event& e) { return step(static_cast<std::uint64_t>(e.start_ns)); });
    case ChunkColumn::kDuration:
      return put([](const model::Event& e) { return zigzag(e.duration_ns); });
    case ChunkColumn::kName:
      return put([](const model::Event& e) { return std::uint64_t{e.name}; });
    case ChunkColumn::kFlags:
      return put([](const model::Event& e) { return std::uint64_t{e.flags}; });
    case ChunkColumn::kCorrelation:
      return put([&](const model::Event& e) { return step(e.correlation); });
    case ChunkColumn::kValue:
      return put([](const model::Event& e) { return zigzag(e.value); });
  }
}

std::int64_t plus(std::int64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + b);
}

}  // namespace

void ChunkPacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

ChunkPacker::ChunkPacker() : context_(ZSTD_createCCtx()) {}

// Appends to what of packed_ is before `at`; where it ends.
std::size_t ChunkPacker::pack_frame(std::span<const model::Event> events, std::int64_t first_ns,
                                    Columns columns, std::size_t at) {
  constexpr std::size_t kRoom = kChunkColumns * kLongestVarint;  // for the columns' lengths
  const auto count = static_cast<std::size_t>(columns.second - columns.first);
  plain_.resize(std::max(plain_.size(), kRoom + (count * events.size() + 1) * kLongestVarint));
  std::array<std::byte, kRoom> lengths;
  VarintWriter head{lengths.data()}, out{plain_.data() + kRoom};
  for (int i = columns.first; i < columns.second; ++i) {
    const std::byte* const begin = out.position;
    put_column(out, static_cast<ChunkColumn>(i), events, first_ns);
    head.put(static_cast<std::uint64_t>(out.position - begin));
  }
  // The lengths are known last and come first.
  std::byte* const plain = std::copy_backward(lengths.data(), head.position, plain_.data() + kRoom);
  const auto size = static_cast<std::size_t>(out.position - plain);
  const std::size_t bound = ZSTD_compressBound(size);
  packed_.resize(std::max(packed_.size(), at + bound));
  const std::size_t written =
      ZSTD_compressCCtx(context_.get(), packed_.data() + at, bound, plain, size, kChunkZstdLevel);
  // Cannot fail: the buffer has the size that zstd asks for.
  return at + (ZSTD_isError(written) ? 0 : written);
}

std::span<const std::byte> ChunkPacker::pack(std::span<const model::Event> events,
                                             std::int64_t first_ns) {
  const std::size_t first = pack_frame(events, first_ns, {0, kFirstPartColumns}, kLongestVarint);
  const std::size_t size = pack_frame(events, first_ns, {kFirstPartColumns, kChunkColumns}, first);
  // The first part's length is known last and comes first.
  std::array<std::byte, kLongestVarint> length;
  VarintWriter head{length.data()};
  head.put(first - kLongestVarint);
  std::byte* const begin =
      std::copy_backward(length.data(), head.position, packed_.data() + kLongestVarint);
  return {begin, packed_.data() + size};
}

tl::unexpected<base::Error> damaged_chunk(const char* why) {
  return base::fail(base::ErrorKind::kDamaged,
                    std::string("a block of events is damaged (") + why + ")");
}

void ChunkOpener::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

base::Result<ChunkOpener::Columns> ChunkOpener::open(const ChunkHeader& header,
                                                     std::span<const std::byte> data, Part part) {
  if (header.codec != kChunkCodec) return damaged_chunk("its encoding is not known");
  if (header.count < 0 || header.count > static_cast<std::int64_t>(kMostChunkEvents)) {
    return damaged_chunk("its count is wrong");
  }
  if (chunk_checksum(header, data) != header.checksum) {
    return damaged_chunk("its checksum is wrong");
  }
  const auto count = static_cast<std::size_t>(header.count);
  Columns columns;
  TRY(open_parts(data, count, part, columns.columns));
  return columns;
}

base::Result<void> ChunkOpener::open_parts(std::span<const std::byte> data, std::size_t count,
                                           Part part, Readers columns) {
  VarintReader length{data.data(), data.data() + data.size()};
  const std::uint64_t first = length.next();
  const auto rest = data.subspan(static_cast<std::size_t>(length.position - data.data()));
  if (!length.ok || first > rest.size()) return damaged_chunk("its parts are cut");
  TRY(open_frame(rest.first(first), count, plain_, columns.first(kFirstPartColumns)));
  if (part == Part::kFirst) return {};
  return open_frame(rest.subspan(first), count, second_plain_, columns.subspan(kFirstPartColumns));
}

// A frame holds the columns' lengths, then the columns.
base::Result<void> ChunkOpener::open_frame(std::span<const std::byte> data, std::size_t count,
                                           std::vector<std::byte>& plain, Readers columns) {
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  const std::size_t most = (count + 1) * columns.size() * kLongestVarint;
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most) {
    return damaged_chunk("its size is wrong");
  }
  plain.resize(static_cast<std::size_t>(size));
  if (!context_) context_.reset(ZSTD_createDCtx());
  const std::size_t got =
      ZSTD_decompressDCtx(context_.get(), plain.data(), plain.size(), data.data(), data.size());
  if (ZSTD_isError(got) || got != plain.size()) {
    return damaged_chunk("it cannot be decompressed");
  }
  VarintReader lengths{plain.data(), plain.data() + plain.size()};
  std::array<std::uint64_t, kChunkColumns> length{};
  for (std::size_t i = 0; i < columns.size(); ++i) length[i] = lengths.next();
  if (!lengths.ok) return damaged_chunk("its columns are cut");
  const std::byte* position = lengths.position;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (length[i] > static_cast<std::uint64_t>(lengths.end - position)) {
      return damaged_chunk("its columns are cut");
    }
    columns[i] = {position, position + length[i]};
    position += length[i];
  }
  return {};
}

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
