#include "trace/store/chunk/chunk_packer.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "trace/store/chunk/chunk_opener.h"
#include "trace/store/chunk/varint.h"

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

}  // namespace shardlens::trace::store
