#include "trace/store/chunk/chunk_opener.h"

#include <zstd.h>

#include <string>

namespace shardlens::trace::store {

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

}  // namespace shardlens::trace::store
