#include "trace/store/chunk_opener.h"

#include <zstd.h>

#include <string>

namespace shardlens::trace {

tl::unexpected<Error> damaged_chunk(const char* why) {
  return fail(ErrorKind::kDamaged, std::string("a block of events is damaged (") + why + ")");
}

void ChunkOpener::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ChunkOpener::ChunkOpener() : context_(ZSTD_createDCtx()) {}
ChunkOpener::~ChunkOpener() = default;
ChunkOpener::ChunkOpener(ChunkOpener&&) noexcept = default;
ChunkOpener& ChunkOpener::operator=(ChunkOpener&&) noexcept = default;

Result<ChunkOpener::Columns> ChunkOpener::open(const ChunkHeader& header,
                                               std::span<const std::byte> data) {
  if (header.codec != kChunkCodec) {
    return fail(ErrorKind::kNewer, "a block of events has format " + std::to_string(header.codec) +
                                       ", which this version does not know: update Shardlens");
  }
  if (header.count < 0 || header.count > static_cast<std::int64_t>(kMostChunkEvents)) {
    return damaged_chunk("its count is wrong");
  }
  if (chunk_checksum(header, data) != header.checksum) {
    return damaged_chunk("its checksum is wrong");
  }
  const auto count = static_cast<std::size_t>(header.count);
  TRY(decompress(data, (count + 1) * kChunkColumns * kLongestVarint));
  return split();
}

Result<void> ChunkOpener::decompress(std::span<const std::byte> data, std::size_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most) {
    return damaged_chunk("its size is wrong");
  }
  plain_.resize(static_cast<std::size_t>(size));
  const std::size_t got =
      ZSTD_decompressDCtx(context_.get(), plain_.data(), plain_.size(), data.data(), data.size());
  if (ZSTD_isError(got) || got != plain_.size()) {
    return damaged_chunk("it cannot be decompressed");
  }
  return {};
}

Result<ChunkOpener::Columns> ChunkOpener::split() const {
  VarintReader sizes{plain_.data(), plain_.data() + plain_.size()};
  std::array<std::uint64_t, kChunkColumns> size{};
  for (auto& one : size) one = sizes.next();
  if (!sizes.ok) return damaged_chunk("its columns are cut");
  Columns columns;
  const std::byte* position = sizes.position;
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] > static_cast<std::uint64_t>(sizes.end - position)) {
      return damaged_chunk("its columns are cut");
    }
    columns.columns[i] = {position, position + size[i]};
    position += size[i];
  }
  return columns;
}

}  // namespace shardlens::trace
